// Writes the documents that are made from the source. Today that is docs/state-machine.md, from src/domain/operation-state.ts; a test
// fails while a document is not what this writes.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'prettier';
import { build } from './build.mjs';
import { projectFolder } from './setup/files.mjs';
import { failWith, isStartedFile, setUp } from './setup.mjs';

const STATE_MACHINE = join(projectFolder, 'docs', 'state-machine.md');

/**
 * The state machine as Markdown, from the module that defines it. `describe`: what the reader of an operation is told in a state.
 */
export function renderStateMachine(machine, describe) {
  const text = [
    '# States of an operation',
    '',
    '<!-- Made by `npm run docs` from src/domain/operation-state.ts; changes here are overwritten. -->',
    '',
    'Every change is a conditional update on state and version, and writes its audit event in the same transaction. A settled',
    'operation is answered with its stored bytes; the one way out of it is evidence of the provider that contradicts it.',
    '',
    ...diagram(machine),
    '',
    ...table(machine, describe),
    '',
  ].join('\n');
  return format(text, { parser: 'markdown', printWidth: 100 });
}

function diagram({ OPERATION_STATES, TRANSITIONS, isSettled }) {
  const claims = ['PENDING', 'AWAITING_APPROVAL'];
  return [
    '```mermaid',
    'stateDiagram-v2',
    ...claims.map((state) => `  [*] --> ${state}`),
    ...OPERATION_STATES.flatMap((from) => TRANSITIONS[from].map((to) => `  ${from} --> ${to}`)),
    ...OPERATION_STATES.filter(isSettled).map((state) => `  ${state} --> [*]`),
    '```',
  ];
}

function table({ OPERATION_STATES, TRANSITIONS, isSettled, releasesClaims }, describe) {
  const yes = (is) => (is ? 'yes' : '');
  return [
    '| state | may become | settled | gives its claims back | what a caller is told |',
    '| --- | --- | --- | --- | --- |',
    ...OPERATION_STATES.map((state) =>
      [
        '',
        `\`${state}\``,
        TRANSITIONS[state].map((to) => `\`${to}\``).join(', '),
        yes(isSettled(state)),
        yes(releasesClaims(state)),
        describe(state),
        '',
      ]
        .join(' | ')
        .trim(),
    ),
  ];
}

async function generate() {
  await setUp({ ...process.env, DATABASE_URL: '-', TEMPORAL_ADDRESS: '-' });
  await build();
  const compiled = (name) =>
    import(pathToFileURL(join(projectFolder, 'dist', 'domain', `${name}.js`)).href);
  const [machine, { GUIDANCE }] = await Promise.all([
    compiled('operation-state'),
    compiled('representation'),
  ]);
  writeFileSync(
    STATE_MACHINE,
    await renderStateMachine(machine, (state) => GUIDANCE[state].message),
  );
}

if (isStartedFile(import.meta.url)) await generate().catch(failWith);

// `holdfast audit …`: takes the audit out of the system, and checks it without the system.
import { open } from 'node:fs/promises';
import type { Command } from 'commander';
import { verifyLog, type LogReport } from '../audit/verify-log.ts';
import { askApi } from './ask-api.ts';
import { CliError, type CliContext } from './context.ts';
import { hand } from './hand.ts';
import { findVerifier, readHeads } from './read-files.ts';

interface ExportOptions {
  readonly account: string;
  readonly out: string;
}

interface VerifyOptions {
  readonly head: string;
  readonly publicKeys?: string;
  readonly json?: boolean;
}

export function addAuditCommands(program: Command, context: CliContext): void {
  const audit = program.command('audit').description('the audit chain of an account');
  audit
    .command('export')
    .description('write the sealed entries of an account, one a line')
    .requiredOption('--account <account>', 'whose; the API key has to be of that account')
    .requiredOption('--out <file>', 'where to')
    .action((options: ExportOptions) => exportLog(context, options));
  audit
    .command('head')
    .description('the newest signed head of the account')
    .option('--out <file>', 'where to; without it, here')
    .action(async ({ out }: { out?: string }) =>
      hand(context, await askApi(context, '/audit/head'), out),
    );
  audit
    .command('verify <file>')
    .description('check an export against a signed head; needs no server')
    .requiredOption('--head <file>', 'the signed head, or several, one a line')
    .option('--public-keys <folder>', 'public keys that you trust, as .pem files')
    .option('--json', 'end with a line {"ok", "first_bad", …}')
    .action((file: string, options: VerifyOptions) => verify(context, file, options));
}

/** Entries that the API answers at once are written at once: an audit may be larger than memory. */
async function exportLog(context: CliContext, { account, out }: ExportOptions): Promise<void> {
  const file = await open(out, 'w', 0o600);
  let last = 0;
  let count = 0;
  try {
    for (;;) {
      const query = new URLSearchParams({ account_id: account, after: String(last) });
      const page = await askApi(context, `/audit/export?${query.toString()}`);
      const lines = page.split('\n').filter((line) => line !== '');
      if (lines.length === 0) break;
      if (last > 0 && sequenceIn(lines[0]) === undefined) {
        throw new CliError('retention has removed entries meanwhile: export again');
      }
      await file.appendFile(page);
      last = sequenceIn(lines.at(-1)) ?? last;
      count += lines.length;
    }
  } finally {
    await file.close();
  }
  context.say(`${count} lines of ${account} in ${out}`);
}

/** Undefined where the line is a checkpoint. */
function sequenceIn(line = ''): number | undefined {
  const found: unknown = JSON.parse(line);
  const { sequence, through_sequence: through } = found as Record<string, number | undefined>;
  return through === undefined ? sequence : undefined;
}

async function verify(context: CliContext, file: string, options: VerifyOptions): Promise<void> {
  const heads = await readHeads(options.head);
  const verifier = findVerifier(context.publicKeyFolders, options.publicKeys);
  if (!verifier) {
    context.warn(
      'signatures are not checked: name the folder of the public keys with --public-keys',
    );
  }
  const report = await verifyLog(file, heads, verifier);
  if (!options.json) context.say(sentenceOf(report));
  else context.say(JSON.stringify(report));
  if (!report.ok) process.exitCode = 1;
}

function sentenceOf({ ok, first_bad, reason, entries, unsigned, signatures }: LogReport): string {
  const found = `${entries} entries in order, ${unsigned} of them behind the head; signatures: ${signatures}`;
  if (ok && signatures === 'unchecked') {
    return `whole by its hashes alone, and signatures were NOT checked: whoever wrote both files can have made them fit (${found})`;
  }
  if (ok) return `whole: ${found}`;
  return `NOT whole${first_bad === null ? '' : ` at entry ${first_bad}`}: ${reason} (${found})`;
}

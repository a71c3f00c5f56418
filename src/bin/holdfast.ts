#!/usr/bin/env node
// Composition root of the command line. Exit code 0: done. 1: checked, and found wrong. 2: could not be done.
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import { CliError, type CliContext } from '../cli/context.ts';
import { createProgram } from '../cli/program.ts';

const { HOLDFAST_URL, HOLDFAST_API_KEY, HOLDFAST_HOME } = process.env;
const { AUDIT_PUBLIC_KEYS, DESK_PUBLIC_KEYS } = process.env;
const project = fileURLToPath(new URL('../../', import.meta.url));
const homes = HOLDFAST_HOME ? [HOLDFAST_HOME] : ['.holdfast', join(project, '.holdfast')];

const keyFolders = (configured: string | undefined, name: string): string[] => [
  ...(configured ? [resolve(configured)] : []),
  ...homes.map((home) => resolve(home, 'keys', name)),
];

const context: CliContext = {
  url: (HOLDFAST_URL ?? 'http://127.0.0.1:8080').replace(/\/+$/, ''),
  apiKey: HOLDFAST_API_KEY,
  publicKeyFolders: keyFolders(AUDIT_PUBLIC_KEYS, 'audit.public'),
  deskKeyFolders: keyFolders(DESK_PUBLIC_KEYS, 'desk.public'),
  say: (line) => console.log(line),
  warn: (line) => console.error(line),
};

try {
  await createProgram(context).parseAsync();
} catch (error) {
  // Commander has said what was wrong, or has shown its help.
  const said = error instanceof CommanderError;
  if (!said) console.error(error instanceof CliError ? error.message : error);
  process.exitCode = said && error.exitCode === 0 ? 0 : 2;
}

// `npm run test:schemathesis`: requests made from /openapi.json against a running API, as an agent, an operator, an auditor, an approver
// and an admin. It submits, cancels, halts and changes grants: run it against an installation that is made for it.
//
//   HOLDFAST_URL       base URL of the API; http://127.0.0.1:8080
//   HOLDFAST_API_KEY   one token; without it those of acct_a in HOLDFAST_HOME/credentials.json, one run each
//   SCHEMATHESIS       the program; `schemathesis` on the PATH
import { spawnSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { projectFolder, readIfThere } from './setup/files.mjs';

const given = process.env.SCHEMATHESIS ?? 'schemathesis';
/** A path means one from here: the runs are elsewhere. */
const program = given.includes('/') ? resolve(given) : given;
/** It keeps what it found in its working folder. */
const folder = mkdtempSync(join(tmpdir(), 'holdfast-schemathesis-'));
const url = process.env.HOLDFAST_URL ?? 'http://127.0.0.1:8080';
const ROLES = ['agent', 'operator', 'auditor', 'approver', 'admin'];

/** Half of the default limit for submits, so that answers are seldom 429. */
const RATE_LIMIT = '25/s';

/**
 * Left out: some rules can't be said in a schema (the precision of a currency, a cursor that was given), so a body that fits the schema
 * may be refused. Every refusal is still held to its schema.
 */
const LEFT_OUT = ['positive_data_acceptance'];

if (spawnSync(program, ['--version'], { stdio: 'ignore' }).error) {
  fail(
    'schemathesis is not installed: `python3 -m venv .cache/schemathesis && .cache/schemathesis/bin/pip install schemathesis`, ' +
      'then set SCHEMATHESIS=.cache/schemathesis/bin/schemathesis',
  );
}
const failed = tokens().filter(([role, token]) => !run(role, token));
process.exitCode = failed.length === 0 ? 0 : 1;
process.stdout.write(
  failed.length === 0 ? 'schemathesis: passed\n' : `schemathesis: failed as ${names(failed)}\n`,
);

function tokens() {
  const token = process.env.HOLDFAST_API_KEY;
  if (token) return [['given', token]];
  const home = resolve(projectFolder, process.env.HOLDFAST_HOME ?? '.holdfast');
  const file = readIfThere(join(home, 'credentials.json'));
  if (file === undefined) fail(`no credentials in ${home}: set HOLDFAST_API_KEY or HOLDFAST_HOME`);
  const people = JSON.parse(file).accounts.acct_a;
  return ROLES.map((role) => [role, people[role].token]);
}

function run(role, token) {
  process.stdout.write(`schemathesis as ${role}\n`);
  const chosen = ['--header', `Authorization: Bearer ${token}`, '--rate-limit', RATE_LIMIT];
  const checks = ['--checks', 'all', '--exclude-checks', LEFT_OUT.join(',')];
  const { status } = spawnSync(
    program,
    ['run', `${url}/openapi.json`, '--warnings', 'off', '--no-color'].concat(
      chosen,
      checks,
      process.argv.slice(2),
    ),
    { stdio: 'inherit', cwd: folder },
  );
  return status === 0;
}

function names(runs) {
  return runs.map(([role]) => role).join(', ');
}

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(2);
}

// `holdfast evidence …`: the proof of one operation, taken and checked.
import type { Command } from 'commander';
import { parseEvidence } from '../audit/parse-evidence.ts';
import { verifyEvidence, type EvidenceReport } from '../audit/verify-evidence.ts';
import { askApi } from './ask-api.ts';
import { CliError, type CliContext } from './context.ts';
import { hand } from './hand.ts';
import { findVerifier, readText } from './read-files.ts';

interface VerifyOptions {
  readonly publicKeys?: string;
  readonly deskKeys?: string;
  readonly json?: boolean;
}

export function addEvidenceCommands(program: Command, context: CliContext): void {
  const evidence = program
    .command('evidence')
    .description('the evidence bundle of an operation')
    .argument('<operation_id>')
    .option('--out <file>', 'where to; without it, here')
    .action((id: string, { out }: { out?: string }) => exportBundle(context, id, out));
  evidence
    .command('verify <file>')
    .description('check a bundle; needs no server')
    .option('--public-keys <folder>', 'public keys of the audit that you trust, as .pem files')
    .option('--desk-keys <folder>', 'public keys of the approval desk, likewise')
    .option('--json', 'end with a line {"ok", "first_bad", …}')
    .action((file: string, options: VerifyOptions) => verify(context, file, options));
}

async function exportBundle(context: CliContext, id: string, out?: string): Promise<void> {
  const text = await askApi(context, `/agent/operations/${encodeURIComponent(id)}/evidence`);
  await hand(context, text, out);
}

async function verify(context: CliContext, file: string, options: VerifyOptions): Promise<void> {
  const bundle = parseEvidence(await readText(file));
  if (!bundle) throw new CliError(`${file}: is no evidence bundle`);
  const report = verifyEvidence(bundle, {
    heads: findVerifier(context.publicKeyFolders, options.publicKeys),
    desk: findVerifier(context.deskKeyFolders, options.deskKeys),
  });
  context.say(options.json ? JSON.stringify(report) : sentenceOf(report));
  if (!report.ok) process.exitCode = 1;
}

/** Says first whether it is proven: nobody reads a line to its end. */
function sentenceOf(report: EvidenceReport): string {
  const { ok, first_bad: firstBad, reason, entries, signatures } = report;
  const checked = `signatures of heads: ${signatures}, of decisions: ${report.decision_signatures}`;
  const found = `${entries} entries; ${checked}`;
  if (ok) return `proven: ${found}`;
  return `NOT proven${firstBad === null ? '' : ` at entry ${firstBad}`}: ${reason} (${found})`;
}

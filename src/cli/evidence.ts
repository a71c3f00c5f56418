// `holdfast evidence …`: the proof of one operation, taken and checked.
import type { Command } from 'commander';
import { verifyEvidence } from '../audit/verify-evidence.ts';
import type { EvidenceBundle } from '../domain/evidence-bundle.ts';
import type { Verifier } from '../signing/keys.ts';
import { askApi } from './ask-api.ts';
import { CliError, type CliContext } from './context.ts';
import { hand } from './hand.ts';
import { findVerifier, readText } from './read-files.ts';

interface VerifyOptions {
  readonly publicKeys?: string;
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
    .option('--public-keys <folder>', 'public keys that you trust, as .pem files')
    .option('--json', 'end with a line {"ok", "first_bad", …}')
    .action((file: string, options: VerifyOptions) => verify(context, file, options));
}

async function exportBundle(context: CliContext, id: string, out?: string): Promise<void> {
  const text = await askApi(context, `/agent/operations/${encodeURIComponent(id)}/evidence`);
  await hand(context, text, out);
}

async function verify(context: CliContext, file: string, options: VerifyOptions): Promise<void> {
  const bundle = bundleIn(file, await readText(file));
  const report = reportOn(file, bundle, findVerifier(context, options.publicKeys));
  const found = `${report.entries} entries; signatures: ${report.signatures}`;
  if (options.json) context.say(JSON.stringify(report));
  else context.say(report.ok ? `proven: ${found}` : `NOT proven: ${report.reason} (${found})`);
  if (!report.ok) process.exitCode = 1;
}

function reportOn(path: string, bundle: EvidenceBundle, verifier: Verifier | undefined) {
  try {
    return verifyEvidence(bundle, verifier);
  } catch (error) {
    // A member is missing, or is something else.
    if (error instanceof TypeError) throw new CliError(`${path}: is no evidence bundle`);
    throw error;
  }
}

function bundleIn(path: string, text: string): EvidenceBundle {
  try {
    const bundle = JSON.parse(text) as EvidenceBundle;
    if (Array.isArray(bundle.entries) && Array.isArray(bundle.proofs)) return bundle;
  } catch {
    // Said below, for whatever reason it is none.
  }
  throw new CliError(`${path}: is no evidence bundle`);
}

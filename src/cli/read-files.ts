// Files that commands are given, read with a sentence where they are not what they should be.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { AuditHead } from '../domain/audit-chain.ts';
import { readVerifier, type Verifier } from '../signing/keys.ts';
import { CliError } from './context.ts';

export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new CliError(`${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Heads of one account by sequence: a file with one, or one a line as the sealer writes them outside of the database. */
export async function readHeads(path: string): Promise<AuditHead[]> {
  const text = await readText(path);
  const heads = (parsed([text]) ?? parsed(text.split('\n').filter((line) => line !== '')))?.filter(
    isHead,
  );
  if (!heads || heads.length === 0) throw new CliError(`${path}: holds no signed head`);
  if (new Set(heads.map((head) => head.account_id)).size > 1) {
    throw new CliError(`${path}: holds heads of several accounts`);
  }
  return heads.toSorted((a, b) => a.sequence - b.sequence);
}

function parsed(texts: readonly string[]): unknown[] | undefined {
  try {
    return texts.map((text): unknown => JSON.parse(text));
  } catch {
    return undefined;
  }
}

function isHead(value: unknown): value is AuditHead {
  const head = value as Partial<AuditHead> | null;
  return (
    typeof head?.account_id === 'string' &&
    Number.isInteger(head.sequence) &&
    Number.isInteger(head.first) &&
    typeof head.hash === 'string' &&
    typeof head.batch === 'string' &&
    typeof head.kid === 'string' &&
    typeof head.signature === 'string'
  );
}

/**
 * The keys that signatures are checked by: of the folder that was named, else of the first usual place that exists; undefined where there
 * is none. Keys that came with the data would prove nothing.
 */
export function findVerifier(
  usual: readonly string[],
  named: string | undefined,
): Verifier | undefined {
  const folder = named ?? usual.find((one) => existsSync(one));
  if (folder === undefined) return undefined;
  try {
    return readVerifier(folder);
  } catch (error) {
    throw new CliError(`${folder}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

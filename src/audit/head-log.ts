// Signed heads outside of the database: one file per account, one head a line, only ever appended to. Whoever rewrites the database
// can't rewrite these, so they tell.
import { mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { AuditHead } from '../domain/audit-chain.ts';

const SUFFIX = '.jsonl';

/** Many times the length of a head. */
const END_BYTES = 16_384;

export interface HeadLog {
  /** Accounts that have a file. */
  accounts(): Promise<string[]>;
  /** The last head of an account's file; undefined where there is none. */
  newest(accountId: string): Promise<AuditHead | undefined>;
  /** Resolves when they are on the disk. */
  append(accountId: string, heads: readonly AuditHead[]): Promise<void>;
}

/** Heads under `folder`, which is made when the first one is written; what was read or written last is remembered. */
export function openHeadLog(folder: string): HeadLog {
  const fileOf = (accountId: string): string => join(folder, `${accountId}${SUFFIX}`);
  const remembered = new Map<string, AuditHead | undefined>();
  return {
    async accounts() {
      const names = await readdir(folder).catch(whereMissing<string[]>([]));
      return names
        .filter((name) => name.endsWith(SUFFIX))
        .map((name) => name.slice(0, -SUFFIX.length));
    },
    async newest(accountId) {
      if (!remembered.has(accountId)) {
        const end = await endOf(fileOf(accountId)).catch(whereMissing(''));
        remembered.set(accountId, lastHead(end));
      }
      return remembered.get(accountId);
    },
    async append(accountId, heads) {
      if (heads.length === 0) return;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await appendDurably(fileOf(accountId), heads);
      remembered.set(accountId, heads.at(-1));
    },
  };
}

async function appendDurably(path: string, heads: readonly AuditHead[]): Promise<void> {
  const file = await open(path, 'a+', 0o600);
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1));
    // A crash may have cut the last line short: it stays what it is, and the next one begins anew.
    const gap = size > 0 && buffer[0] !== 0x0a ? '\n' : '';
    await file.appendFile(gap + heads.map((head) => `${JSON.stringify(head)}\n`).join(''));
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The last lines of a file: it grows for ever. */
async function endOf(path: string): Promise<string> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    const length = Math.min(size, END_BYTES);
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length);
    return buffer.toString('utf8');
  } finally {
    await file.close();
  }
}

function lastHead(text: string): AuditHead | undefined {
  for (const line of text.split('\n').toReversed()) {
    const head = parsed(line);
    if (head) return head;
  }
  return undefined;
}

function parsed(line: string): AuditHead | undefined {
  try {
    return line === '' ? undefined : (JSON.parse(line) as AuditHead);
  } catch {
    return undefined;
  }
}

const whereMissing =
  <T>(instead: T) =>
  (error: unknown): T => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return instead;
    throw error;
  };

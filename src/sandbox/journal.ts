// The provider's memory across restarts: one append-only file of JSON lines, read once at the start. Without it an operation that is
// UNKNOWN while everything is restarted would find nothing, which no real provider would answer. A line is handed to the operating
// system before its effect is answered, so it survives the end of this process; a power cut may lose the last ones.
import { closeSync, mkdirSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { Effect, EffectState, Standing, TokenRecord } from './records.ts';

const Entry = z.strictObject({
  effect: Effect.optional(),
  record: TokenRecord.optional(),
  settled: z.object({ id: z.string(), state: EffectState, at: z.string().optional() }).optional(),
  /** Put there from outside. */
  standing: Standing.optional(),
  /** Set by a person, on an object of any origin. */
  status: z.object({ id: z.string(), status: z.string() }).optional(),
});
/** What one step changed; an effect and the record of its token stand in one line, so that neither is kept without the other. */
export type JournalEntry = z.infer<typeof Entry>;

export interface Journal {
  /** What was written before this start, in order. */
  readonly past: readonly JournalEntry[];
  /** Writes an entry down; throws where that fails, and then nothing has happened. */
  append(entry: JournalEntry): void;
  close(): void;
}

/** Opens `<home>/sandbox.jsonl`; without a home nothing outlives the process. */
export function openJournal(home: string | undefined): Journal {
  if (home === undefined) return { past: [], append: () => {}, close: () => {} };
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const path = join(home, 'sandbox.jsonl');
  const file = openSync(path, 'a', 0o600);
  const past = readPast(path);
  return {
    past,
    append: (entry) => writeWhole(file, `${JSON.stringify(entry)}\n`),
    close: () => closeSync(file),
  };
}

/** A write that stops half way would run into the next line. */
function writeWhole(file: number, line: string): void {
  const bytes = Buffer.from(line);
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}

function readPast(path: string): JournalEntry[] {
  const bytes = readFileSync(path);
  const whole = bytes.lastIndexOf('\n') + 1;
  // The process ended within its last line: that effect was never answered, and is as if it had not been.
  if (whole < bytes.length) truncateSync(path, whole);
  const lines = bytes.subarray(0, whole).toString('utf8').split('\n').slice(0, -1);
  return lines.map((line, index) => readEntry(line, `${path} line ${index + 1}`));
}

function readEntry(line: string, place: string): JournalEntry {
  try {
    return Entry.parse(JSON.parse(line));
  } catch (cause) {
    throw new Error(`sandbox: ${place} can't be read; move the file away to start afresh`, {
      cause,
    });
  }
}

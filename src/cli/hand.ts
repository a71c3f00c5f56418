// What a command hands over: to a file for its owner alone, or to whoever reads its output.
import { writeFile } from 'node:fs/promises';
import type { CliContext } from './context.ts';

export async function hand({ say, warn }: CliContext, text: string, out?: string): Promise<void> {
  if (out === undefined) {
    say(text);
    return;
  }
  await writeFile(out, text, { mode: 0o600 });
  warn(`written to ${out}`);
}

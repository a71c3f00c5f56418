// Lines of a file in constant memory: an audit has more lines than a machine has memory. Bytes are hashed and text is compared, so both
// are handed over, a whole piece of the file at a time: making either for each line would take longer than hashing it.
import { open } from 'node:fs/promises';

const PIECE_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/** A line from `start` to before `end`. `text` is Latin-1, so that places in it are places in `bytes`, which are the callee's to change. */
export type OnLine = (bytes: Buffer, text: string, start: number, end: number) => boolean;

/** Calls `each` with every line that isn't empty, without its newline, until it answers false. */
export async function eachLine(path: string, each: OnLine): Promise<void> {
  const file = await open(path, 'r');
  try {
    let piece = Buffer.alloc(PIECE_BYTES);
    let rest = 0;
    for (;;) {
      const { bytesRead } = await file.read(piece, rest, piece.length - rest);
      const bytes = piece.subarray(0, rest + bytesRead);
      const whole = bytesRead === 0 ? bytes.length : bytes.lastIndexOf(NEWLINE) + 1;
      if (!linesOf(bytes.subarray(0, whole), each) || bytesRead === 0) return;
      rest = bytes.length - whole;
      // A line that fills the whole piece gets more room.
      if (rest === piece.length) piece = Buffer.concat([piece, Buffer.alloc(piece.length)]);
      else piece.copyWithin(0, whole, bytes.length);
    }
  } finally {
    await file.close();
  }
}

function linesOf(bytes: Buffer, each: OnLine): boolean {
  const text = bytes.toString('latin1');
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    if (end > start && !each(bytes, text, start, end)) return false;
    start = end + 1;
  }
  return true;
}

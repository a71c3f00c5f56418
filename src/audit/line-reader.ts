// Lines of a file as bytes, in constant memory: an audit has more lines than a machine has memory.
import { createReadStream } from 'node:fs';

const CHUNK_BYTES = 1 << 20;
const NEWLINE = 0x0a;

/** Calls `each` with every line that isn't empty, without its newline, until it answers false. The bytes are the callee's to change. */
export async function eachLine(path: string, each: (line: Buffer) => boolean): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES })) {
    const bytes = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      if (end > start && !each(bytes.subarray(start, end))) return;
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  if (rest.length > 0) each(rest);
}

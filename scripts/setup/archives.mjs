// Takes one file out of a zip or a tar.gz without a dependency. Enough for archives whose SHA-256 or origin is trusted:
// no zip64, no encryption, no long tar names.
import { gunzipSync, inflateRawSync } from 'node:zlib';

const ZIP_END = 0x06_05_4b_50;
const ZIP_ENTRY = 0x02_01_4b_50;
const ZIP_END_SIZE = 22;
const DEFLATED = 8;

/** Bytes of the first entry whose name `matches`; throws when none does. */
export function readFromZip(archive, matches) {
  const entry = zipEntries(archive).find(({ name }) => matches(name));
  if (entry === undefined)
    throw new Error('the archive does not hold the file that was looked for');
  const nameAndExtra =
    archive.readUInt16LE(entry.offset + 26) + archive.readUInt16LE(entry.offset + 28);
  const start = entry.offset + 30 + nameAndExtra;
  const stored = archive.subarray(start, start + entry.storedBytes);
  return entry.method === DEFLATED ? inflateRawSync(stored) : stored;
}

function zipEntries(archive) {
  let end = archive.length - ZIP_END_SIZE;
  while (end >= 0 && archive.readUInt32LE(end) !== ZIP_END) end -= 1;
  if (end < 0) throw new Error('this is not a zip archive');
  const entries = [];
  let at = archive.readUInt32LE(end + 16);
  while (archive.readUInt32LE(at) === ZIP_ENTRY) {
    const nameBytes = archive.readUInt16LE(at + 28);
    entries.push({
      name: archive.toString('utf8', at + 46, at + 46 + nameBytes),
      method: archive.readUInt16LE(at + 10),
      storedBytes: archive.readUInt32LE(at + 20),
      offset: archive.readUInt32LE(at + 42),
    });
    at += 46 + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return entries;
}

const TAR_BLOCK = 512;

/** Bytes of the first regular file whose name `matches`; throws when none does. */
export function readFromTarGz(archive, matches) {
  const tar = gunzipSync(archive);
  const text = (start, end) => tar.toString('utf8', start, end).replace(/\0.*$/s, '');
  let at = 0;
  while (at + TAR_BLOCK <= tar.length && tar[at] !== 0) {
    const bytes = Number.parseInt(text(at + 124, at + 136), 8);
    const isFile = tar[at + 156] === 0 || tar[at + 156] === 0x30;
    const start = at + TAR_BLOCK;
    if (isFile && matches(text(at, at + 100))) return tar.subarray(start, start + bytes);
    at = start + Math.ceil(bytes / TAR_BLOCK) * TAR_BLOCK;
  }
  throw new Error('the archive does not hold the file that was looked for');
}

// Reads the data files of test/vectors; their README says where each comes from.
import { readFileSync } from 'node:fs';

const ROOT = new URL('../vectors/', import.meta.url);

/** The bytes of a vector file. */
export function vectorBytes(path: string): Buffer {
  return readFileSync(new URL(path, ROOT));
}

/** The text of a vector file. */
export function vectorText(path: string): string {
  return vectorBytes(path).toString('utf8');
}

/** A vector file as JSON, untyped; the caller names the shape that the README describes. */
export function vectorJson(path: string): ReturnType<typeof JSON.parse> {
  return JSON.parse(vectorText(path));
}

// Uniqueness across keys: the parts that name one piece of business become one text that no other parts give.

/** A JSON array, because joined texts would let one part end inside another. */
export function businessKeyOf(parts: readonly string[]): string {
  return JSON.stringify(parts);
}

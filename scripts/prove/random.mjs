// Chance from a seed: the same seed gives every operation the same script and the faults the same order.

/** A stream of its own for each name, so that what one part draws doesn't shift what another gets. */
export function chance(seed, ...name) {
  let state = hash(`${seed}/${name.join('/')}`);
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (low, high) => low + Math.floor(next() * (high - low + 1));
  return {
    between,
    happens: (share) => next() < share,
    pick: (list) => list[between(0, list.length - 1)],
    shuffled: (list) =>
      list
        .map((one) => [next(), one])
        .toSorted(([a], [b]) => a - b)
        .map(([, one]) => one),
    uuid: () =>
      'xxxxxxxx-xxxx-4xxx-8xxx-xxxxxxxxxxxx'.replaceAll('x', () => between(0, 15).toString(16)),
  };
}

/** FNV-1a. */
function hash(text) {
  let value = 0x811c9dc5;
  for (const char of text) value = Math.imul(value ^ char.codePointAt(0), 0x01000193);
  return value >>> 0;
}

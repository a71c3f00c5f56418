// How long something is good for, by two clocks: the monotonic one stands still while a machine is suspended, the other one may be set back.

/** True for `forMs` from now. */
export function freshness(forMs: number): () => boolean {
  const [monotonic, wall] = [performance.now(), Date.now()];
  return () => Math.max(performance.now() - monotonic, Date.now() - wall) < forMs;
}

// Bounded load: so many requests, so many at once, each timed.

/** Runs `work(n)` for n = 0 … count - 1, `concurrency` at a time. Answers operations a second and latencies in milliseconds. */
export async function load(count, concurrency, work) {
  const latencies = [];
  let next = 0;
  const lane = async () => {
    while (next < count) {
      const n = next++;
      const begun = performance.now();
      await work(n);
      latencies.push(performance.now() - begun);
    }
  };
  const begun = performance.now();
  await Promise.all(Array.from({ length: concurrency }, lane));
  const seconds = (performance.now() - begun) / 1_000;
  return { perSecond: count / seconds, p50: percentile(latencies, 0.5) };
}

/** The value below which this share of the values lies. */
export function percentile(values, share) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

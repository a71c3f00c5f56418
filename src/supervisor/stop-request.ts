// How a person or a service manager asks the supervisor to stop, once or impatiently.

/** npm and the terminal each pass the same Ctrl-C on: within this time it was one request. */
const SAME_REQUEST_MS = 750;

export interface StopRequest {
  /** Aborted by the first request. */
  readonly stop: AbortSignal;
  /** Aborted by the second. */
  readonly hurry: AbortSignal;
}

/** Listens from now on; the signals no longer end the process by themselves. */
export function listenForStop(): StopRequest {
  const stop = new AbortController();
  const hurry = new AbortController();
  let firstAt = 0;
  const onSignal = (): void => {
    if (!stop.signal.aborted) {
      firstAt = performance.now();
      stop.abort();
    } else if (performance.now() - firstAt > SAME_REQUEST_MS) {
      hurry.abort();
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  return { stop: stop.signal, hurry: hurry.signal };
}

/** Resolves when the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}

// A process that the supervisor started must not outlive it: a second copy would then work on the same database.

/** Longer than the longest orderly end (a worker drains for up to about 20 s). */
const END_WITHIN_MS = 30_000;

/**
 * Calls `onGone` once when the supervisor that started this process is gone, also after kill -9, and ends the process
 * when that has not happened by itself within 30 s. Does nothing in a process that was started by hand.
 */
export function exitWithParent(onGone: () => void): void {
  if (process.send === undefined) return;
  process.once('disconnect', () => {
    setTimeout(() => process.exit(1), END_WITHIN_MS).unref();
    onGone();
  });
  // Listening must not keep a process alive whose own work is done.
  process.channel?.unref();
  if (!process.connected) process.emit('disconnect');
}

// How often one principal may ask. Submits and reads have separate buckets, so that an agent that polls can still submit.
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { HoldfastError } from '../domain/operation-error.ts';

/** Requests per second and principal. */
export interface RateLimitSettings {
  readonly submitsPerS: number;
  readonly readsPerS: number;
}

export interface RateLimits {
  /** Counts a request of this principal; throws `rate_limited` where its bucket is used up. */
  count(principalId: string, method: string): Promise<void>;
}

/** Counted in windows of this length; a caller that was refused never waits longer. */
const WINDOW_S = 1;

/** Methods that change nothing (RFC 9110 §9.2.1). All others count as submits: they cost as much as one. */
const READS = new Set(['GET', 'HEAD']);

const bucketOf = (points: number) => new RateLimiterMemory({ points, duration: WINDOW_S });

/**
 * The limits of one process: behind several APIs a principal has them at each. A counter lives for one window and only those who have
 * authenticated get one, so there are never more counters than requests in a second.
 */
export function createRateLimits(settings: RateLimitSettings): RateLimits {
  const submits = bucketOf(settings.submitsPerS);
  const reads = bucketOf(settings.readsPerS);
  return {
    async count(principalId, method) {
      try {
        await (READS.has(method) ? reads : submits).consume(principalId);
      } catch (refusal) {
        throw refusal instanceof RateLimiterRes ? rateLimited(refusal) : refusal;
      }
    },
  };
}

function rateLimited({ msBeforeNext }: RateLimiterRes): HoldfastError {
  const detail = 'Too many requests of this principal; nothing was done.';
  return new HoldfastError('rate_limited', detail, {
    retry_after_seconds: Math.max(1, Math.ceil(msBeforeNext / 1_000)),
  });
}

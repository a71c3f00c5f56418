// How often one principal may ask. Submits and reads have separate buckets, so that an agent that polls can still submit.
import type { RequestHandler, Response } from 'express';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import { HoldfastError } from '../../domain/operation-error.ts';
import type { RateLimitSettings } from '../dependencies.ts';
import { principalOf } from './authenticate.ts';

/** Counted in windows of this length; a caller that was refused never waits longer. */
const WINDOW_S = 1;

/** Methods that change nothing (RFC 9110 §9.2.1). All others count as submits: they cost as much as one. */
const READS = new Set(['GET', 'HEAD']);

/**
 * Counts a request against its principal's bucket and answers 429 with `Retry-After` where that is used up; nothing of the request
 * has been looked at then. Counts are kept in this process: behind several APIs a principal has the limit at each of them. An entry
 * lives for one window and only authenticated principals get one, so there are never more than requests in a second.
 */
export function limitRate(settings: RateLimitSettings): RequestHandler {
  const bucketOf = (points: number) => new RateLimiterMemory({ points, duration: WINDOW_S });
  const submits = bucketOf(settings.submitsPerS);
  const reads = bucketOf(settings.readsPerS);
  return async (request, response, next) => {
    await take(READS.has(request.method) ? reads : submits, response);
    next();
  };
}

async function take(bucket: RateLimiterMemory, response: Response): Promise<void> {
  try {
    await bucket.consume(principalOf(response).principalId);
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal;
    const detail = 'Too many requests of this principal; nothing was done.';
    throw new HoldfastError('rate_limited', detail, {
      retry_after_seconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1_000)),
    });
  }
}

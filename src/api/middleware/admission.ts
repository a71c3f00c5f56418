// How much this process works on at once. A request beyond it is answered at once instead of waiting in a queue that nobody bounds:
// the caller hears within milliseconds that it may repeat, and those who are in get their answers in time.
import type { RequestHandler, Response } from 'express';
import { HoldfastError } from '../../domain/operation-error.ts';
import { observedOf } from '../observed.ts';

/**
 * A few seconds of work for one process (one to two hundred claims a second): the last one let in still gets its database connection
 * before the pool gives up waiting, and bodies of the largest size stay below 128 MiB together.
 */
export const MOST_AT_ONCE = 500;

const RETRY_AFTER_S = 2;

type GiveBack = () => void;

/** Lets at most `most` requests in; the others are 503 with `Retry-After`, and nothing of them has been looked at. */
export function admitAtMost(most: number): RequestHandler {
  let inside = 0;
  return (_request, response, next) => {
    if (inside >= most) {
      throw new HoldfastError(
        'unavailable',
        'Too busy; nothing was done. Repeat with the same key.',
        {
          retry_after_seconds: RETRY_AFTER_S,
        },
      );
    }
    inside += 1;
    let counted = true;
    const giveBack: GiveBack = () => {
      if (counted) inside -= 1;
      counted = false;
    };
    response.locals['giveBack'] = giveBack;
    response.once('close', giveBack);
    next();
  };
}

/** Gives the place of a request back before its end: one that is only held works on nothing. Held ones have a bound of their own. */
export function stepAside(response: Response): void {
  observedOf(response).held = true;
  (response.locals['giveBack'] as GiveBack | undefined)?.();
}

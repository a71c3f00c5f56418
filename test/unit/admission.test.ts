import { EventEmitter } from 'node:events';
import type { Request, RequestHandler, Response } from 'express';
import { describe, expect, it } from 'vitest';
import { admitAtMost, stepAside } from '../../src/api/middleware/admission.ts';
import { HoldfastError } from '../../src/domain/operation-error.ts';

const responseOf = () => Object.assign(new EventEmitter(), { locals: {} }) as unknown as Response;

/** The code of the refusal, or undefined where the request was let in. */
function enter(admission: RequestHandler, response: Response): string | undefined {
  try {
    void admission({} as Request, response, () => {});
    return undefined;
  } catch (error) {
    return error instanceof HoldfastError ? error.code : 'another error';
  }
}

describe('admission', () => {
  it('lets in as many as its bound and tells the others to come again', () => {
    const admission = admitAtMost(2);
    const answers = [1, 2, 3].map(() => enter(admission, responseOf()));
    expect(answers).toEqual([undefined, undefined, 'unavailable']);
  });

  it('gives the place of an answered or broken request to the next one', () => {
    const admission = admitAtMost(1);
    const first = responseOf();
    enter(admission, first);
    first.emit('close');
    expect(enter(admission, responseOf())).toBeUndefined();
  });

  it('does not count one that is only held, and counts each place once', () => {
    const admission = admitAtMost(1);
    const held = responseOf();
    enter(admission, held);
    stepAside(held);
    const second = responseOf();
    expect(enter(admission, second)).toBeUndefined();
    held.emit('close');
    expect(enter(admission, responseOf())).toBe('unavailable');
  });
});

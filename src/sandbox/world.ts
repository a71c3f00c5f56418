// The provider's own truth: effects, token records, and tokens whose first call is still being worked on.
// Nothing is ever dropped (a test provider is asked what happened long afterwards), so memory grows with use.
import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { concerns, type Aim } from './aim.ts';
import type { Journal, JournalEntry } from './journal.ts';
import {
  objectOf,
  refusal,
  textsOf,
  type Answer,
  type Effect,
  type EffectState,
  type TokenRecord,
  type WriteRequest,
} from './records.ts';

/** Where a write finds its token. */
export type Situation = 'fresh' | 'in_use' | 'repeat' | 'mismatch';

const PREFIX: Readonly<Record<string, string>> = { payment: 'pay', refund: 'ref', ticket: 'tic' };
const DIGITS = /^\d+$/;

const keyOf = (one: { readonly account: string; readonly token: string }) =>
  `${one.account} ${one.token}`;
const idFor = (kind: string) =>
  `${PREFIX[kind] ?? kind.slice(0, 3)}_${randomBytes(12).toString('hex')}`;

/** `amount` is in ISO 4217 minor units on this wire, so what counts and what was sent are one. */
function amountsOf(amount: unknown): Pick<Effect, 'amount_minor' | 'amount_sent'> {
  if (typeof amount !== 'string' || !DIGITS.test(amount)) return {};
  return { amount_minor: String(BigInt(amount)), amount_sent: amount };
}

function answerFor(effect: Effect): Answer {
  if (effect.state === 'failed') return refusal(402, 'card_declined', 'The payment was declined.');
  return { status: effect.state === 'pending' ? 202 : 201, body: objectOf(effect) };
}

export class World {
  readonly #journal: Journal;
  readonly #retentionMs: (record: TokenRecord) => number;
  readonly #effects: Effect[] = [];
  readonly #byId = new Map<string, Effect>();
  readonly #byToken = new Map<string, Effect[]>();
  readonly #records = new Map<string, TokenRecord>();
  readonly #open = new Map<string, WriteRequest>();

  /** Takes up where the journal ended. `retentionMs` says how long a token is remembered, asked anew each time. */
  constructor(journal: Journal, retentionMs: (record: TokenRecord) => number) {
    this.#journal = journal;
    this.#retentionMs = retentionMs;
    for (const entry of journal.past) this.#apply(entry);
  }

  /** All effects in the order they came about. */
  get effects(): readonly Effect[] {
    return this.#effects;
  }

  /** Whether this write may act, and if not why. */
  situation(write: WriteRequest): Situation {
    const first = this.#open.get(keyOf(write)) ?? this.recordOf(write);
    if (first === undefined) return 'fresh';
    const same = first.kind === write.kind && isDeepStrictEqual(first.request, write.request);
    if (!same) return 'mismatch';
    return this.#open.has(keyOf(write)) ? 'in_use' : 'repeat';
  }

  /** What was answered for the token of this write; undefined where there is nothing, or it is past its retention. */
  recordOf(write: WriteRequest): TokenRecord | undefined {
    const record = this.#records.get(keyOf(write));
    if (record === undefined) return undefined;
    const age = Date.now() - Date.parse(record.created_at);
    return age < this.#retentionMs(record) ? record : undefined;
  }

  /** Keeps the token in use while `work` runs, whether or not its caller is still there. */
  async keepOpen<T>(write: WriteRequest, work: () => Promise<T>): Promise<T> {
    this.#open.set(keyOf(write), write);
    try {
      return await work();
    } finally {
      this.#open.delete(keyOf(write));
    }
  }

  /** Carries the write out and returns the answer, which is from now on that of its token. `answer` replaces the usual one. */
  act(write: WriteRequest, state: EffectState, answer?: Answer): Answer {
    const effect: Effect = {
      seq: this.#effects.length + 1,
      id: idFor(write.kind),
      ...write,
      state,
      ...amountsOf(write.request['amount']),
      created_at: new Date().toISOString(),
    };
    const record = { ...write, answer: answer ?? answerFor(effect), created_at: effect.created_at };
    this.#commit({ effect, record });
    return record.answer;
  }

  /** Keeps an answer for the token of a write that was not carried out. */
  remember(write: WriteRequest, answer: Answer): Answer {
    this.#commit({ record: { ...write, answer, created_at: new Date().toISOString() } });
    return answer;
  }

  /** The effects of an account's token, oldest first: more than one where the token was forgotten in between. */
  byToken(account: string, token: string): readonly Effect[] {
    return this.#byToken.get(keyOf({ account, token })) ?? [];
  }

  /** The effect of this id, if it is the account's. */
  byId(account: string, id: string): Effect | undefined {
    const effect = this.#byId.get(id);
    return effect?.account === account ? effect : undefined;
  }

  /** Pending effects meant by `aim` (and of `token`, if given) take their final state; returns those that did. */
  settle(aim: Aim, token: string | undefined, state: 'done' | 'failed'): Effect[] {
    const meant = this.#effects.filter(
      (effect) =>
        effect.state === 'pending' &&
        concerns(aim, effect.kind, textsOf(effect)) &&
        (token === undefined || effect.token === token),
    );
    for (const { id } of meant) this.#commit({ settled: { id, state } });
    return meant;
  }

  /** Written down first: what can't be written down has not happened. */
  #commit(entry: JournalEntry): void {
    this.#journal.append(entry);
    this.#apply(entry);
  }

  #apply({ effect, record, settled }: JournalEntry): void {
    if (effect) {
      this.#effects.push(effect);
      this.#byId.set(effect.id, effect);
      this.#byToken.set(keyOf(effect), [...this.byToken(effect.account, effect.token), effect]);
    }
    if (record) this.#records.set(keyOf(record), record);
    const known = settled && this.#byId.get(settled.id);
    if (known) known.state = settled.state;
  }
}

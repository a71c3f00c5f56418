// The provider's own truth: effects, token records, and tokens whose first call is still being worked on.
// Nothing is ever dropped (a test provider is asked what happened long afterwards), so memory grows with use.
import { isDeepStrictEqual } from 'node:util';
import { concerns, type Aim } from './aim.ts';
import type { Journal, JournalEntry } from './journal.ts';
import { firstStatusOf, newId, SEEDS, type StandingKind } from './kinds.ts';
import {
  objectOf,
  refusal,
  textsOf,
  type Answer,
  type Effect,
  type EffectState,
  type Standing,
  type TokenRecord,
  type WriteRequest,
} from './records.ts';

/** Where a write finds its token. */
export type Situation = 'fresh' | 'in_use' | 'repeat' | 'mismatch';

const DIGITS = /^\d+$/;

const keyOf = (one: { readonly account: string; readonly token: string }) =>
  `${one.account} ${one.token}`;

/** `amount` is in ISO 4217 minor units on this wire, so what counts and what was sent are one. */
function amountsOf(amount: unknown): Pick<Effect, 'amount_minor' | 'amount_sent'> {
  if (typeof amount !== 'string' || !DIGITS.test(amount)) return {};
  return { amount_minor: String(BigInt(amount)), amount_sent: amount };
}

function answerFor(effect: Effect): Answer {
  if (effect.state === 'failed') {
    return refusal(402, 'card_declined', `The ${effect.kind.replaceAll('_', ' ')} was declined.`);
  }
  return { status: effect.state === 'pending' ? 202 : 201, body: objectOf(effect) };
}

function freshStanding(kind: StandingKind, id: string): Standing {
  const status = firstStatusOf(kind);
  return { id, kind, ...(status === undefined ? {} : { status }) };
}

const writeOf = ({ account, kind, token, operation_id, request }: WriteRequest): WriteRequest => ({
  account,
  kind,
  token,
  operation_id,
  request,
});

export class World {
  readonly #journal: Journal;
  readonly #retentionMs: (record: TokenRecord) => number;
  readonly #effects: Effect[] = [];
  readonly #byId = new Map<string, Effect>();
  readonly #byToken = new Map<string, Effect[]>();
  readonly #records = new Map<string, TokenRecord>();
  readonly #open = new Map<string, WriteRequest>();
  readonly #received = new Map<string, WriteRequest>();
  readonly #standing = new Map<string, Standing>();

  /** Takes up where the journal ended. `retentionMs` says how long a token is remembered, asked anew each time. */
  constructor(journal: Journal, retentionMs: (record: TokenRecord) => number) {
    this.#journal = journal;
    this.#retentionMs = retentionMs;
    for (const { kind, id } of SEEDS) this.#apply({ standing: freshStanding(kind, id) });
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

  /** Keeps a fresh write in mind, so that an event can tell of it even if it is not carried out. Forgotten with the process. */
  note(write: WriteRequest): void {
    this.#received.set(keyOf(write), write);
  }

  /** The newest write meant by `aim` (with `token`: of that token, whatever it holds), carried out or not. */
  newestWrite({ kind, match }: Aim, token: string | undefined): WriteRequest | undefined {
    const aim = token === undefined ? { kind, match } : { kind };
    return [...this.#received.values()].findLast(
      (write) =>
        concerns(aim, write.kind, textsOf(write)) && (token === undefined || write.token === token),
    );
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
    const effect = this.#newEffect(write, state);
    const record = { ...write, answer: answer ?? answerFor(effect), created_at: effect.created_at };
    this.#commit({ effect, record });
    return record.answer;
  }

  /**
   * The object of a write takes the state that an event tells of it, and is made where the write was not carried out so far. Told
   * `done` it is done whatever it was; told `failed` it fails where it was pending; otherwise it stays. Returns the object.
   */
  takeState(write: WriteRequest, told: EffectState): Effect {
    const effect = this.effectOf(write) ?? this.#bringAbout(write, told);
    const changes =
      (told === 'done' && effect.state !== 'done') ||
      (told === 'failed' && effect.state === 'pending');
    if (changes) this.#settle(effect.id, told);
    return effect;
  }

  /** The newest effect of a write's token; undefined where it was not carried out. */
  effectOf({ account, token, kind }: WriteRequest): Effect | undefined {
    return this.byToken(account, token).findLast((effect) => effect.kind === kind);
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

  /** What refunds have taken of a payment or will, in minor units: those that failed have taken nothing. */
  refundedOf({ account, id }: Effect): bigint {
    const refunds = this.#effects.filter(
      (one) =>
        one.kind === 'refund' &&
        one.account === account &&
        one.state !== 'failed' &&
        one.request['payment'] === id,
    );
    return refunds.reduce((sum, { amount_minor = '0' }) => sum + BigInt(amount_minor), 0n);
  }

  /** Pending effects meant by `aim` (and of `token`, if given) take their final state; returns those that did. */
  settle(aim: Aim, token: string | undefined, state: 'done' | 'failed'): Effect[] {
    const meant = this.#effects.filter(
      (effect) =>
        effect.state === 'pending' &&
        concerns(aim, effect.kind, textsOf(effect)) &&
        (token === undefined || effect.token === token),
    );
    for (const { id } of meant) this.#settle(id, state);
    return meant;
  }

  /** What was there before, if it is of this kind. */
  standing(kind: string, id: string): Standing | undefined {
    const one = this.#standing.get(id);
    return one?.kind === kind ? one : undefined;
  }

  /** Something was there before, though nobody wrote it here. */
  seed(kind: StandingKind, id: string): void {
    if (!this.#standing.has(id)) this.#commit({ standing: freshStanding(kind, id) });
  }

  /** A person sets the status of a ticket, whoever made it; false where there is no such ticket. */
  setTicketStatus(id: string, status: string): boolean {
    const ticket = this.#standing.get(id) ?? this.#byId.get(id);
    if (ticket?.kind !== 'ticket') return false;
    this.#commit({ status: { id, status } });
    return true;
  }

  #newEffect(write: WriteRequest, state: EffectState): Effect {
    const status = firstStatusOf(write.kind);
    return {
      seq: this.#effects.length + 1,
      id: newId(write.kind),
      ...write,
      state,
      ...amountsOf(write.request['amount']),
      created_at: new Date().toISOString(),
      ...(status === undefined ? {} : { status }),
    };
  }

  /** Carries a write out with nobody there to be answered. An answer that its token has already stays. */
  #bringAbout(write: WriteRequest, state: EffectState): Effect {
    const effect = this.#newEffect(write, state);
    const { created_at } = effect;
    const record = { ...write, answer: answerFor(effect), created_at };
    this.#commit(this.recordOf(write) ? { effect } : { effect, record });
    return effect;
  }

  #settle(id: string, state: EffectState): void {
    this.#commit({ settled: { id, state, at: new Date().toISOString() } });
  }

  /** Written down first: what can't be written down has not happened. */
  #commit(entry: JournalEntry): void {
    this.#journal.append(entry);
    this.#apply(entry);
  }

  #apply({ effect, record, settled, standing, status }: JournalEntry): void {
    if (effect) {
      this.#effects.push(effect);
      this.#byId.set(effect.id, effect);
      this.#byToken.set(keyOf(effect), [...this.byToken(effect.account, effect.token), effect]);
      this.note(writeOf(effect));
    }
    if (record) {
      this.#records.set(keyOf(record), record);
      this.note(writeOf(record));
    }
    const known = settled && this.#byId.get(settled.id);
    if (known) Object.assign(known, { state: settled.state, settled_at: settled.at });
    if (standing) this.#standing.set(standing.id, standing);
    const changed = status && (this.#standing.get(status.id) ?? this.#byId.get(status.id));
    if (changed) changed.status = status.status;
  }
}

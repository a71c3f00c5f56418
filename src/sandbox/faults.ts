// Which fault a call meets.
//
// A script holds one mode per write, in order. Which write uses the next one up depends on what its token has behind it, so that
// scripts come out in order however often a client repeats itself:
//
// - a write that doesn't match the first request of its token is refused as such and uses nothing up;
// - a mode that only says something (`timeout_no_commit`, `error_503_not_executed`, `conflict_in_progress`, …) is used up by any
//   write, also by a repeat or while the token is in use: "acted, answer lost, then refused" is what a client must be tried with;
// - a mode that acts and loses the answer (`commit_then_…`) is used up by a fresh token, where it acts, and by a repeat, where the
//   recorded answer is lost in the same way and nothing acts again; not while the token is in use (that is answered so);
// - every other mode is about acting (`ok`, `decline`, `hang_then_commit`, …) and waits for a fresh token. A repeat gets its
//   recorded answer and leaves the mode to the next fresh write.
//
// A fresh token has neither a recorded answer (within retention) nor a call that is being worked on. The newest script with something
// left decides; once all are used up, the newest sticky mode plays on every write by the same rules.
import { Aimed } from './aim.ts';
import { textsOf, type TokenRecord, type WriteRequest } from './records.ts';
import type { Situation } from './world.ts';

/** Modes that say something without acting. */
const SAYING = [
  'timeout_no_commit',
  'error_503_not_executed',
  'conflict_in_progress',
  'param_mismatch',
  'already_exists',
  'already_owned_by_you',
  'not_found_404',
] as const;

/** Modes that act, then lose the answer. */
const LOSING = [
  'commit_then_timeout',
  'commit_then_reset',
  'commit_then_500',
  'commit_then_gateway_504_html',
  'commit_then_truncated_body',
] as const;

/** Modes that say how a fresh write is carried out. */
const ACTING = [
  'ok',
  'decline',
  'hang_then_commit',
  'error_500_cached',
  'accepted_async',
  'ok_empty_204',
  'delay_then_ok',
  'webhook_before_response',
] as const;

/** Every mode of a write, by the names that the admin side takes. */
export const WRITE_MODES = [...SAYING, ...LOSING, ...ACTING] as const;
export type WriteMode = (typeof WRITE_MODES)[number];

export const LOOKUP_MODES = ['up', 'down', 'hidden_for', 'wrong_amount', 'two_matches'] as const;
export type LookupMode = (typeof LOOKUP_MODES)[number];

/** A mode with what it needs. */
export interface AskedMode {
  readonly mode: WriteMode;
  readonly delayMs: number;
}

const isOneOf = (modes: readonly string[], mode: WriteMode) => modes.includes(mode);

function shows(mode: WriteMode, situation: Situation): boolean {
  if (situation === 'fresh' || isOneOf(SAYING, mode)) return true;
  return situation === 'repeat' && isOneOf(LOSING, mode);
}

const DEFAULT_RETENTION_MS = 24 * 3_600_000;

/** All that can be broken, and put right again by `reset`. */
export class Faults {
  readonly scripts = new Aimed<AskedMode[]>();
  readonly sticky = new Aimed<AskedMode>();
  /** `until`: when hidden objects show again, in milliseconds of `Date.now()`. */
  readonly lookups = new Aimed<{ readonly mode: LookupMode; readonly until: number }>();
  readonly retention = new Aimed<number>();
  readonly visibilityLag = new Aimed<number>();

  /** Takes the mode that this write plays; undefined where none is asked for. */
  take(write: WriteRequest, situation: Exclude<Situation, 'mismatch'>): AskedMode | undefined {
    const texts = textsOf(write);
    const script = this.scripts.all(write.kind, texts).find((modes) => modes.length > 0);
    const next = script?.[0] ?? this.sticky.newest(write.kind, texts);
    if (next === undefined || !shows(next.mode, situation)) return undefined;
    script?.shift();
    return next;
  }

  /** How long the token of this record is remembered. */
  retentionMs(record: TokenRecord): number {
    return this.retention.newest(record.kind, textsOf(record)) ?? DEFAULT_RETENTION_MS;
  }

  /** Everything back to normal; what happened stays. */
  reset(): void {
    for (const setting of [
      this.scripts,
      this.sticky,
      this.lookups,
      this.retention,
      this.visibilityLag,
    ]) {
      setting.clear();
    }
  }
}

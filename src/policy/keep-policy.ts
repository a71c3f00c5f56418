// The policy in force: read at the start, read anew when the file changes or the process gets SIGHUP. A file that can't be used changes
// nothing but the log, the gauge and `/readyz`: what was in force stays so.
import { readFileSync } from 'node:fs';
import type { Policy } from '../domain/policy.ts';
import type { Logger } from '../observability/logger.ts';
import { parsePolicy } from './parse-policy.ts';
import type { PolicyDefaults } from './policy-file.schema.ts';

/** Nobody who has changed a rule waits long. The few bytes are read each time: times of files say too little. */
const LOOK_EVERY_MS = 2_000;

export interface PolicySource extends PolicyDefaults {
  /** Path of the file. */
  readonly policyFile: string;
}

export interface KeptPolicy {
  /** The policy in force. */
  readonly current: () => Policy;
  /** False where the file as it stands can't be used and an earlier one is in force. */
  readonly isFresh: () => boolean;
  readonly stop: () => void;
}

/** Throws where the file can't be read or used: without a policy nothing may start. `kinds`: those that there are. */
export function keepPolicy(
  source: PolicySource,
  kinds: readonly string[],
  logger: Logger,
  lookEveryMs = LOOK_EVERY_MS,
): KeptPolicy {
  let taken = readPolicyText(source.policyFile);
  let current = parsed(taken, source);
  let fault: string | undefined;
  tellOf(current, kinds, logger);
  const take = (found: string | Error): void => {
    if (isSame(found, taken)) return;
    taken = found;
    try {
      const next = parsed(found, source);
      fault = undefined;
      if (next.version === current.version) return;
      current = next;
      tellOf(current, kinds, logger);
    } catch (error) {
      fault = String(error);
      logger.error({ err: error }, 'the policy before stays in force');
    }
  };
  // Whoever writes the file may be halfway: what is there counts once two looks have found the same. A signal says that it is whole.
  let glimpsed: string | Error = taken;
  const looks = setInterval(() => {
    const found = readPolicyText(source.policyFile);
    if (isSame(found, glimpsed)) take(found);
    glimpsed = found;
  }, lookEveryMs).unref();
  const onSignal = () => take(readPolicyText(source.policyFile));
  process.on('SIGHUP', onSignal);
  return {
    current: () => current,
    isFresh: () => fault === undefined,
    stop: () => {
      clearInterval(looks);
      process.off('SIGHUP', onSignal);
    },
  };
}

/** Reads the file once; throws with a sentence that names it. */
export function readPolicy(source: PolicySource): Policy {
  return parsed(readPolicyText(source.policyFile), source);
}

function parsed(found: string | Error, source: PolicySource): Policy {
  if (found instanceof Error) throw found;
  return parsePolicy(found, source.policyFile, source);
}

function isSame(one: string | Error, other: string | Error): boolean {
  return String(one) === String(other);
}

function readPolicyText(file: string): string | Error {
  try {
    const bytes = readFileSync(file);
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    const told = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8' : code;
    return new Error(`policy: ${file}: ${told}`, { cause: error });
  }
}

/** A misspelt kind would make a rule speak of nothing; a file may also serve a version that has more kinds. So it is said, not refused. */
function tellOf({ version, rules, ceilings }: Policy, kinds: readonly string[], logger: Logger) {
  const named = [
    ...rules.flatMap(({ when }) => when.kind ?? []),
    ...ceilings.flatMap((c) => c.kinds),
  ];
  const unknown = [...new Set(named)].filter((kind) => !kinds.includes(kind));
  logger.info({ policy_version: version }, 'policy in force');
  if (unknown.length > 0)
    logger.warn({ unknown_kinds: unknown }, 'the policy names kinds that there are not');
}

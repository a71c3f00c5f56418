// The policy in force: read at the start, read anew when the file changes or the process gets SIGHUP. A file that can't be used changes
// nothing but the log, the gauge and `/readyz`: what was in force stays so.
import { readFileSync, unwatchFile, watchFile } from 'node:fs';
import type { Policy } from '../domain/policy.ts';
import type { Logger } from '../observability/logger.ts';
import { parsePolicy } from './parse-policy.ts';
import type { PolicyDefaults } from './policy-file.schema.ts';

/** A look at a file costs nothing, and nobody who has changed a rule waits longer. */
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
  const { policyFile } = source;
  let current = readPolicy(source);
  let isFresh = true;
  tellOf(current, kinds, logger);
  const reload = (): void => {
    try {
      const next = readPolicy(source);
      isFresh = true;
      if (next.version === current.version) return;
      current = next;
      tellOf(current, kinds, logger);
    } catch (error) {
      isFresh = false;
      logger.error(
        { err: error },
        'the policy file cannot be used; the policy before stays in force',
      );
    }
  };
  watchFile(policyFile, { interval: lookEveryMs, persistent: false }, reload);
  process.on('SIGHUP', reload);
  return {
    current: () => current,
    isFresh: () => isFresh,
    stop: () => {
      unwatchFile(policyFile, reload);
      process.off('SIGHUP', reload);
    },
  };
}

/** Reads the file once; throws with a sentence that names it. */
export function readPolicy(source: PolicySource): Policy {
  const { policyFile } = source;
  let bytes: Buffer;
  try {
    bytes = readFileSync(policyFile);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
    throw new Error(`policy: ${policyFile}: ${code}`, { cause: error });
  }
  return parsePolicy(textOf(bytes, policyFile), policyFile, source);
}

function textOf(bytes: Buffer, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    throw new Error(`policy: ${file}: is not UTF-8`, { cause: error });
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

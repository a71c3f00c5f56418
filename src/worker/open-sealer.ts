// The audit's sealer of a worker, with the key and the place for heads that its configuration names.
import { openHeadLog } from '../audit/head-log.ts';
import { createSealer, type Sealer, type SealerDependencies } from '../audit/sealer.ts';
import type { Config } from '../config.ts';
import { readSigningKey, readVerifier } from '../signing/keys.ts';

/** Undefined, with a line in the log, where there is no usable key: operations go on, the seal lag grows, and its alarm tells. */
export function openSealer(
  { keys, audit }: Config,
  { pool, metrics, logger }: Pick<SealerDependencies, 'pool' | 'metrics' | 'logger'>,
): Sealer | undefined {
  try {
    const key = readSigningKey(keys.audit.privateKeyFile);
    const verifier = readVerifier(keys.audit.publicKeyFolder);
    if (!verifier.publicKeys.has(key.kid)) throw new Error(`no public key ${key.kid}`);
    return createSealer({
      pool,
      key,
      verifier,
      heads: openHeadLog(audit.headsFolder),
      retentionMs: audit.retentionMs,
      metrics,
      logger,
    });
  } catch (error) {
    logger.error({ err: error }, 'the audit is not sealed: AUDIT_KEY_FILE, AUDIT_PUBLIC_KEYS');
    return undefined;
  }
}

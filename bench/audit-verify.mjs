// Checking an exported audit against reading and hashing the same file once: the least that anybody must do who checks it at all.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from '../scripts/build.mjs';

const TURNS = 5;

/** Entries that the sealer seals with one head. */
const BATCH = 1_000;

/** `verify` and `hash` in MB/s, the better turn of each, in turns. */
export async function auditVerify(count) {
  await build();
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-audit-'));
  try {
    const log = join(folder, 'audit.jsonl');
    const { verifier, head } = await writeLog(log, folder, count);
    const { verifyLog } = await import('../dist/audit/verify-log.js');
    const megabytes = statSync(log).size / 1e6;
    const best = { ours: 0, anchor: 0 };
    for (let turn = 0; turn < TURNS; turn++) {
      best.anchor = Math.max(best.anchor, megabytes / (await seconds(() => hashFile(log))));
      best.ours = Math.max(
        best.ours,
        megabytes / (await seconds(() => verifyWhole(verifyLog, log, head, verifier))),
      );
    }
    return best;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function verifyWhole(verifyLog, log, head, verifier) {
  const report = await verifyLog(log, [head], verifier);
  if (!report.ok) throw new Error(`the log is not whole: ${report.reason}`);
}

async function hashFile(path) {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) hash.update(chunk);
  return hash.digest('hex');
}

async function seconds(work) {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1_000;
}

/** A log as the sealer makes it, of events as a payment has them. */
async function writeLog(path, folder, count) {
  const chain = await import('../dist/domain/audit-chain.js');
  const { sha256Hex } = await import('../dist/domain/sha256.js');
  const { ensureKeyPair, readVerifier } = await import('../dist/signing/keys.js');
  const publicKeyFolder = join(folder, 'public');
  const key = ensureKeyPair({ privateKeyFile: join(folder, 'key.pem'), publicKeyFolder });
  const file = createWriteStream(path);
  let previous = chain.chainStart('acct_a');
  let batch = [];
  for (let sequence = 1; sequence <= count; sequence++) {
    const place = { sequence, after: previous };
    const entry = chain.entryText('acct_a', place, eventOf(sequence, sha256Hex));
    previous = sha256Hex(entry);
    if ((sequence - 1) % BATCH === 0) batch = [];
    batch.push(previous);
    if (!file.write(`${chain.entryLine(entry, previous)}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'finish');
  const head = {
    v: 1,
    account_id: 'acct_a',
    sequence: count,
    hash: previous,
    count,
    first: count - batch.length + 1,
    batch: chain.batchHash(batch),
    sealed_at: '2026-01-02T03:04:05.678Z',
    kid: key.kid,
  };
  const signed = { ...head, signature: key.sign(chain.headText(head)) };
  return { head: signed, verifier: readVerifier(publicKeyFolder) };
}

function eventOf(n, sha256Hex) {
  return {
    type: 'transition',
    operationId: `op_0b7e3f2a-6c1d-4a5e-9f80-${String(n).padStart(12, '0')}`,
    at: '2026-01-02T03:04:05.678Z',
    from: 'IN_PROGRESS',
    to: 'SUCCEEDED',
    principal: 'acct_a.agent',
    agentRun: null,
    route: null,
    key: `6c1d4a5e-9f80-4b7e-8f2a-${String(n).padStart(12, '0')}`,
    fingerprint: sha256Hex(`fingerprint ${n}`),
    responseHash: sha256Hex(`response ${n}`),
    providerReference: `pay_${n}`,
    detail: null,
  };
}

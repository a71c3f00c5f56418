// Crash points of the worker, in the order of the path. All rows are brought to their point, the worker is killed as a crash would, and
// another one finds in the register what the first left behind. Each row for both ways of running a dispatch.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OperationState } from '../../src/domain/operation-state.ts';
import type { Mode } from '../support/provider-control.ts';
import { freshKey, startSystem, type RunningSystem } from '../support/running-system.ts';
import { until } from '../support/until.ts';

interface CrashPoint {
  readonly point: string;
  readonly modes: readonly Mode[];
  /** Lookups that fail until the second worker runs. */
  readonly lookupsDown?: boolean;
  /** True once the operation is at its point. */
  readonly reached: (operationId: string) => Promise<unknown>;
  /** What the ledger says of the last attempt at the moment of the crash. */
  readonly outcomeThen: string | null | undefined;
  readonly writes: number;
  readonly states: readonly OperationState[];
}

const SETTLED_BY_ASKING: readonly OperationState[] = [
  'PENDING',
  'IN_PROGRESS',
  'UNKNOWN',
  'RECONCILING',
  'SUCCEEDED',
];
const STRAIGHT: readonly OperationState[] = ['PENDING', 'IN_PROGRESS', 'SUCCEEDED'];

let system: RunningSystem;

const POINTS: readonly CrashPoint[] = [
  {
    point: 'after the intent, while the provider works',
    modes: [{ mode: 'delay_then_ok', delay_ms: 6_500 }],
    reached: (id) => system.untilWritten(id),
    outcomeThen: null,
    writes: 1,
    states: SETTLED_BY_ASKING,
  },
  {
    point: 'after the provider acted, before the outcome is stored',
    modes: ['commit_then_timeout'],
    reached: (id) =>
      until('the effect is there', async () => (await system.provider.sawOf(id)).effects === 1),
    outcomeThen: null,
    writes: 1,
    states: SETTLED_BY_ASKING,
  },
  {
    point: 'after the intent, of a request that is lost on its way',
    modes: ['timeout_no_commit', 'ok'],
    reached: (id) => system.untilWritten(id),
    outcomeThen: null,
    writes: 2,
    states: SETTLED_BY_ASKING,
  },
  {
    point: 'after a refusal, before the next try',
    modes: ['error_503_not_executed', 'ok'],
    reached: (id) => untilOutcome(id, 'not_sent'),
    outcomeThen: 'not_sent',
    writes: 2,
    states: STRAIGHT,
  },
  {
    point: 'while the provider works on what it accepted',
    modes: ['accepted_async'],
    reached: (id) => system.untilLookedUp(id),
    outcomeThen: 'pending',
    writes: 1,
    states: STRAIGHT,
  },
  {
    point: 'during reconciliation',
    modes: ['commit_then_500'],
    lookupsDown: true,
    reached: (id) => system.untilLookedUp(id, 2),
    outcomeThen: 'unknown',
    writes: 1,
    states: SETTLED_BY_ASKING,
  },
];

const ROWS = POINTS.flatMap((one) =>
  (['local', 'regular'] as const).map((dispatch) => ({
    ...one,
    dispatch,
    key: freshKey(),
    ids: [] as string[],
  })),
);

const beforeAnyWorker = freshKey();
let beforeAnyWorkerId = '';

async function untilOutcome(operationId: string, outcome: string): Promise<unknown> {
  return until(`the attempt of ${operationId} is ${outcome}`, async () => {
    return (await lastOutcome(operationId)) === outcome;
  });
}

async function lastOutcome(operationId: string): Promise<string | null | undefined> {
  const { rows } = await system.pool.query<{ outcome: string | null }>(
    'select outcome from attempts where operation_id = $1 order by number desc limit 1',
    [operationId],
  );
  return rows[0]?.outcome;
}

/** Its point lasts until the worker is killed, however long that takes. */
const lasts = ({ outcomeThen }: CrashPoint): boolean =>
  outcomeThen === 'unknown' || outcomeThen === 'pending';

const outcomesThen = new Map<string, string | null | undefined>();

beforeAll(async () => {
  // A deadline that leaves time to bring all rows to their points.
  system = await startSystem({ env: { PROVIDER_DEADLINE_MS: '8000' } });
  for (const dispatch of ['local', 'regular']) {
    await system.planFor(`cus-${dispatch}`, {
      dispatch,
      refusal_delays_ms: [8_000, 100, 100, 100],
      reconcile: { send_window_ms: 9_000 },
    });
  }
  await Promise.all(ROWS.map((row) => system.provider.script(row.key, ...row.modes)));
  await Promise.all(
    ROWS.filter((row) => row.lookupsDown).map((row) => system.provider.lookups(row.key, 'down')),
  );
  // Those whose point lasts come first, so that the others are still at theirs when the last one is.
  const lasting = ROWS.filter(lasts);
  const passing = ROWS.filter((row) => !lasts(row));
  for (const rows of [lasting, passing]) {
    await Promise.all(
      rows.map(async (row) => {
        const { key, dispatch } = row;
        const { body } = await system.submit({ key, customer_id: `cus-${dispatch}` });
        row.ids.push(body.operation_id);
        await row.reached(body.operation_id);
      }),
    );
  }
  await system.workers[0]?.kill();
  for (const { key, ids } of ROWS) outcomesThen.set(key, await lastOutcome(ids[0] ?? ''));
  beforeAnyWorkerId = (await system.submit({ key: beforeAnyWorker })).body.operation_id;
  await system.provider.lookups('cus-', 'up');
  await Promise.all(ROWS.map((row) => system.provider.lookups(row.key, 'up')));
  await system.startWorker();
  await Promise.all(
    ROWS.filter((row) => row.modes.includes('accepted_async')).map((row) =>
      system.provider.settle(row.key, 'done'),
    ),
  );
});
afterAll(() => system.stop());

describe.concurrent('a worker that is killed', () => {
  it('after the claim, before it saw the operation: another one sends it', async () => {
    const rest = await system.atRest(beforeAnyWorkerId);
    expect(rest.status).toBe('SUCCEEDED');
    expect(await system.statesOf(beforeAnyWorkerId)).toEqual(STRAIGHT);
    expect(await system.provider.sawOf(beforeAnyWorkerId)).toMatchObject({
      effects: 1,
      writes: 1,
      tokens: [beforeAnyWorker],
    });
  });

  it.each(ROWS.map((row) => [row.point, row.dispatch, row] as const))(
    '%s (%s dispatch): one effect, one token, SUCCEEDED',
    async (_point, _dispatch, row) => {
      const [operationId = ''] = row.ids;
      expect(outcomesThen.get(row.key)).toBe(row.outcomeThen);
      const rest = await system.atRest(operationId);
      expect(rest.status).toBe('SUCCEEDED');
      expect(await system.statesOf(operationId)).toEqual(row.states);
      expect(await system.provider.sawOf(operationId)).toMatchObject({
        effects: 1,
        writes: row.writes,
        tokens: [row.key],
        bodies: 1,
        mostInFlight: 1,
      });
    },
  );
});

describe('after all of them', () => {
  it('no operation is stuck', async () => {
    expect(await system.openOperations()).toEqual([]);
  });

  it('a worker killed during the resend leaves one effect and no third write', async () => {
    const key = freshKey();
    await system.provider.script(key, 'timeout_no_commit', {
      mode: 'delay_then_ok',
      delay_ms: 2_000,
    });
    await system.planFor(`cus-${key}`, {
      provider_deadline_ms: 2_500,
      reconcile: { send_window_ms: 3_500 },
    });
    const third = await system.startWorker();
    const { body } = await system.submit({ key, customer_id: `cus-${key}` });
    await system.untilWritten(body.operation_id, 2);
    const { rows } = await system.pool.query<{ worker: string }>(
      'select worker from attempts where operation_id = $1 and number = 2',
      [body.operation_id],
    );
    const resender = [third, ...system.started()].find((one) =>
      rows[0]?.worker.startsWith(`${one.pid}@`),
    );
    await resender?.kill();
    expect(await lastOutcome(body.operation_id)).toBeNull();
    expect(await system.atRest(body.operation_id)).toMatchObject({ status: 'SUCCEEDED' });
    expect(await system.provider.sawOf(body.operation_id)).toMatchObject({
      effects: 1,
      writes: 2,
      tokens: [key],
      bodies: 1,
    });
  });
});

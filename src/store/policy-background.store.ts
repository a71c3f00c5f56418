// What a policy is told of an operation beyond its row.
import type { JsonObject } from '../domain/strict-json.ts';
import { inBatches } from './in-batches.ts';
import type { Pool } from './pool.ts';
import { IDS, run, type Prepared } from './prepared.ts';

export interface PolicyBackground {
  /** Owner of the submitter, as of now. */
  readonly owner: string;
  /** Command of the operation that it acts on; null where it acts on none. */
  readonly targetCommand: JsonObject | null;
}

/** The limits keep a plan that was made while the tables were small from reading all of them for a few ids. */
const POLICY_BACKGROUNDS: Prepared = {
  name: 'policy_backgrounds',
  text: `select q.id, o.owner, t.command as target
     from ${IDS} cross join lateral (
       select p.owner, o.plan #>> '{target,operation_id}' as target_id
       from operations o join principals p on p.principal_id = o.agent_id
       where o.operation_id = q.id limit 1) o
     left join lateral (select command from operations where operation_id = o.target_id limit 1) t on true`,
};

/** Throws where there is no such operation. */
export async function policyBackground(pool: Pool, operationId: string): Promise<PolicyBackground> {
  const found = await readTogether(pool, operationId);
  if (!found) throw new Error(`operation ${operationId} is gone`);
  return found;
}

const readTogether = inBatches(async (pool: Pool, operationIds: readonly string[]) => {
  const { rows } = await run(pool, POLICY_BACKGROUNDS, [JSON.stringify(operationIds)]);
  const found = new Map(
    rows.map(({ id, owner, target }): [string, PolicyBackground] => [
      id,
      { owner, targetCommand: target },
    ]),
  );
  return operationIds.map((id) => found.get(id));
});

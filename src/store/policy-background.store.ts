// What a policy is told of an operation beyond its row.
import type { JsonObject } from '../domain/strict-json.ts';
import type { Queryable } from './pool.ts';
import { run, type Prepared } from './prepared.ts';

export interface PolicyBackground {
  /** Owner of the submitter, as of now. */
  readonly owner: string;
  /** Command of the operation that it acts on; null where it acts on none. */
  readonly targetCommand: JsonObject | null;
}

const POLICY_BACKGROUND: Prepared = {
  name: 'policy_background',
  text: `select p.owner, t.command as target
     from operations o join principals p on p.principal_id = o.agent_id
     left join operations t on t.operation_id = o.plan #>> '{target,operation_id}'
     where o.operation_id = $1`,
};

/** Throws where there is no such operation. */
export async function policyBackground(
  db: Queryable,
  operationId: string,
): Promise<PolicyBackground> {
  const { rows } = await run(db, POLICY_BACKGROUND, [operationId]);
  if (!rows[0]) throw new Error(`operation ${operationId} is gone`);
  return { owner: rows[0].owner, targetCommand: rows[0].target };
}

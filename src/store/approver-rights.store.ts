// Whether those who agreed may still agree.
import type { ApprovalRecord } from '../domain/approval-record.ts';
import type { Queryable } from './pool.ts';
import { run, type Prepared } from './prepared.ts';

const GONE: Prepared = {
  name: 'approvers_gone',
  text: `select v.principal_id
     from jsonb_to_recordset($2::jsonb) as v (principal_id text, owner text)
     where not exists (
       select from principals p
       where p.principal_id = v.principal_id and p.owner = v.owner and p.account_id = $1
         and p.disabled_at is null and 'approver' = any (p.roles)
         and (p.issuer is not null or exists (
           select from api_keys a where a.principal_id = p.principal_id and a.revoked_at is null
             and (a.expires_at is null or a.expires_at > holdfast_now()))))
     order by v.principal_id`,
};

/**
 * Principals whose yes is stored and who couldn't give it now: disabled, no approver any more, of another owner or account, or without a
 * key that is neither revoked nor expired. Those of an identity provider have no keys here.
 */
export async function approversGone(
  db: Queryable,
  accountId: string,
  { votes }: ApprovalRecord,
): Promise<string[]> {
  const agreed = votes.filter(({ decision }) => decision === 'approved');
  if (agreed.length === 0) return [];
  const voters = agreed.map((v) => ({ principal_id: v.principalId, owner: v.owner }));
  const { rows } = await run(db, GONE, [accountId, JSON.stringify(voters)]);
  return rows.map((row) => row.principal_id as string);
}

// The audit chain: its head, its entries, and the evidence of one operation.
import { Router, type Request, type Response } from 'express';
import { entryLine } from '../../domain/audit-chain.ts';
import { HoldfastError } from '../../domain/operation-error.ts';
import { newestHead, readCheckpoint, readSealed } from '../../store/audit-sealing.store.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { authenticate, principalOf, requireRole } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { isId } from '../openapi/members.ts';
import { parseQuery } from '../parse-query.ts';
import { evidenceOf } from '../read-evidence.ts';
import { auditChainContracts, exportQuery } from './audit-chain.contract.ts';

export function auditChainRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  const gets = {
    '/audit/head': showHead,
    '/audit/export': exportEntries,
    '/agent/operations/:operation_id/evidence': showEvidence,
  };
  for (const [path, show] of Object.entries(gets)) {
    router
      .route(path)
      .get(authenticate(deps), (request, response) => show(deps, request, response))
      .all(methodNotAllowed('GET'));
  }
  return router;
}

async function showHead(
  { pool }: ApiDependencies,
  request: Request,
  response: Response,
): Promise<void> {
  const principal = principalOf(response);
  requireRole(principal, auditChainContracts.head.roles);
  parseQuery(request, auditChainContracts.head.query);
  const head = await newestHead(pool, principal.accountId);
  if (!head) throw new HoldfastError('not_found', 'Nothing of this account is sealed yet.');
  response.json(head);
}

async function exportEntries(
  { pool }: ApiDependencies,
  request: Request,
  response: Response,
): Promise<void> {
  const principal = principalOf(response);
  requireRole(principal, auditChainContracts.export.roles);
  const { accountId } = principal;
  const query = parseQuery(request, exportQuery);
  if (query.account_id !== undefined && query.account_id !== accountId) {
    throw new HoldfastError('not_found', 'This credential is not of that account.');
  }
  const entries = await readSealed(pool, accountId, query.after, query.limit);
  // Read after them, so that what retention removes in between is left out here as well.
  const checkpoint = await readCheckpoint(pool, accountId);
  const removed = checkpoint?.through_sequence ?? 0;
  const lines = entries
    .filter(({ sequence }) => sequence > removed)
    .map(({ entry, hash }) => `${entryLine(entry, hash)}\n`);
  const first = query.after < removed ? `${JSON.stringify(checkpoint)}\n` : '';
  response.type('application/jsonl').send(first + lines.join(''));
}

async function showEvidence(
  deps: ApiDependencies,
  request: Request,
  response: Response,
): Promise<void> {
  const principal = principalOf(response);
  requireRole(principal, auditChainContracts.evidence.roles);
  parseQuery(request, auditChainContracts.evidence.query);
  const id = String(request.params['operation_id']);
  const bundle = isId(id) ? await evidenceOf(deps, principal.accountId, id) : undefined;
  if (!bundle) throw new HoldfastError('not_found', 'There is no such operation.');
  response.json(bundle);
}

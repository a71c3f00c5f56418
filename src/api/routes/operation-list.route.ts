// Lists of operations, and what belongs to one.
import { Router, type Request, type Response } from 'express';
import { HoldfastError } from '../../domain/operation-error.ts';
import { readFile } from '../../store/operations.store.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { operationsPage } from '../list-operations.ts';
import { mayRead } from '../may-read.ts';
import { authenticate, principalOf, requireRole } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { isId } from '../openapi/members.ts';
import { parseQuery } from '../parse-query.ts';
import { relatedOperations } from '../related-operations.ts';
import { listQuery, operationListContracts } from './operation-list.contract.ts';

export function operationListRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/agent/operations')
    .get(authenticate(deps), (request, response) => list(deps, request, response))
    .all(methodNotAllowed('GET'));
  router
    .route('/agent/operations/:operation_id/related')
    .get(authenticate(deps), (request, response) => related(deps, request, response))
    .all(methodNotAllowed('GET'));
  return router;
}

async function list(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  const principal = principalOf(response);
  requireRole(principal, operationListContracts.list.roles);
  const page = await operationsPage(deps, principal, parseQuery(request, listQuery));
  response.type('application/json').send(page);
}

async function related(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  const principal = principalOf(response);
  requireRole(principal, operationListContracts.related.roles);
  parseQuery(request, operationListContracts.related.query);
  const id = String(request.params['operation_id']);
  const file = isId(id) ? await readFile(deps.pool, id) : undefined;
  if (!file || !mayRead(principal, file.operation)) {
    throw new HoldfastError('not_found', 'There is no such operation.');
  }
  response.json(await relatedOperations(deps, principal, file.operation));
}

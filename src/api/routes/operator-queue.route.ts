// The operator's queue.
import { Router, type Request, type Response } from 'express';
import type { ApiDependencies } from '../dependencies.ts';
import { authenticate, principalOf, requireRole } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { queuePage } from '../operator-queue.ts';
import { parseQuery } from '../parse-query.ts';
import { operatorQueueContracts } from './operator-queue.contract.ts';

export function operatorQueueRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/operator/queue')
    .get(authenticate(deps), (request, response) => show(deps, request, response))
    .all(methodNotAllowed('GET'));
  return router;
}

async function show(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  const principal = principalOf(response);
  requireRole(principal, operatorQueueContracts.queue.roles);
  const query = parseQuery(request, operatorQueueContracts.queue.query);
  response.json(await queuePage(deps, principal.accountId, query));
}

// Reading the audit.
import { Router, type Request, type Response } from 'express';
import type { ApiDependencies } from '../dependencies.ts';
import { authenticate, principalOf, requireRole } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { parseQuery } from '../parse-query.ts';
import { auditPage } from '../read-audit.ts';
import { auditEventsContracts, eventsQuery } from './audit-events.contract.ts';

export function auditEventsRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/audit/events')
    .get(authenticate(deps), (request, response) => list(deps, request, response))
    .all(methodNotAllowed('GET'));
  return router;
}

async function list(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  const principal = principalOf(response);
  requireRole(principal, auditEventsContracts.events.roles);
  response.json(await auditPage(deps, principal, parseQuery(request, eventsQuery)));
}

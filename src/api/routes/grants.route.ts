// Grants of agents.
import { Router, type RequestHandler } from 'express';
import type { ApiDependencies } from '../dependencies.ts';
import { changeGrant, type GrantWish } from '../change-grant.ts';
import { authenticate, principalOf } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { requireDecider } from '../operator-access.ts';
import { refuseUnknownQuery } from '../parse-submission.ts';
import { grantContracts } from './grants.contract.ts';

const ROUTE = '/operator/principals/{principal_id}/grants/{kind}';

export function grantsRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/operator/principals/:principalId/grants/:kind')
    .put(authenticate(deps), changeBy(deps, 'grant'))
    .delete(authenticate(deps), changeBy(deps, 'revoke'))
    .all(methodNotAllowed('PUT', 'DELETE'));
  return router;
}

function changeBy(deps: ApiDependencies, action: GrantWish['action']): RequestHandler {
  return async (request, response) => {
    refuseUnknownQuery(request);
    const principal = principalOf(response);
    await requireDecider(deps, { principal, route: ROUTE }, grantContracts.grant.roles);
    const { principalId, kind } = request.params;
    const grants = await changeGrant(deps, {
      admin: principal,
      principalId: String(principalId),
      kind: String(kind),
      action,
    });
    response.json({ principal_id: principalId, grants });
  };
}

// Pauses of a connection and halts of everything.
import { Router, type RequestHandler } from 'express';
import type { ApiDependencies } from '../dependencies.ts';
import { changeHold, type HoldWish } from '../hold-operations.ts';
import { authenticate, principalOf } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { requireDecider } from '../operator-access.ts';
import { refuseUnknownQuery } from '../parse-submission.ts';
import { operatorHoldContracts } from './operator-holds.contract.ts';

export function operatorHoldsRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  const serve = (path: string, route: string, action: HoldWish['action']): void => {
    router
      .route(path)
      .post(authenticate(deps), changeBy(deps, route, action))
      .all(methodNotAllowed('POST'));
  };
  const connection = '/operator/connections';
  serve(`${connection}/:name/pause`, `${connection}/{name}/pause`, 'hold');
  serve(`${connection}/:name/resume`, `${connection}/{name}/resume`, 'lift');
  serve('/operator/halt', '/operator/halt', 'hold');
  serve('/operator/unhalt', '/operator/unhalt', 'lift');
  return router;
}

function changeBy(
  deps: ApiDependencies,
  route: string,
  action: HoldWish['action'],
): RequestHandler {
  return async (request, response) => {
    refuseUnknownQuery(request);
    const principal = principalOf(response);
    await requireDecider(deps, { principal, route }, operatorHoldContracts.halt.roles);
    const { name } = request.params;
    const connection = name === undefined ? null : String(name);
    response.json(await changeHold(deps, { principal, connection, action }));
  };
}

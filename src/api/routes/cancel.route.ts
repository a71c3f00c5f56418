// Canceling.
import { Router, type Request, type Response } from 'express';
import { cancelOperation } from '../cancel-operation.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { authenticate, principalOf } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { isId } from '../openapi/members.ts';
import { noSuchOperation, requireDecider } from '../operator-access.ts';
import { refuseUnknownQuery } from '../parse-submission.ts';
import { answerRead } from '../replay-response.ts';
import { operatorOperationContracts } from './operator-operations.contract.ts';

export function cancelRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/agent/operations/:operationId/cancel')
    .post(authenticate(deps), (request, response) => cancel(deps, request, response))
    .all(methodNotAllowed('POST'));
  return router;
}

async function cancel(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  refuseUnknownQuery(request);
  const principal = principalOf(response);
  const route = '/agent/operations/{id}/cancel';
  await requireDecider(deps, { principal, route }, operatorOperationContracts.cancel.roles);
  const id = String(request.params['operationId']);
  if (!isId(id)) throw noSuchOperation();
  answerRead(response, await cancelOperation(deps, principal, id));
}

// What can be asked for.
import { Router } from 'express';
import type { ApiDependencies } from '../dependencies.ts';
import { describeKinds } from '../describe-kinds.ts';
import { authenticate, principalOf } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { parseQuery } from '../parse-query.ts';
import { kindsContracts } from './kinds.contract.ts';

export function kindsRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/kinds')
    .get(authenticate(deps), (request, response) => {
      parseQuery(request, kindsContracts.kinds.query);
      response.json({ kinds: describeKinds(deps, principalOf(response)) });
    })
    .all(methodNotAllowed('GET'));
  return router;
}

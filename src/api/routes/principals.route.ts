// Principals of an account, for its admins.
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { z } from 'zod';
import type { ListedPrincipal } from '../../store/principal-directory.store.ts';
import { addPrincipal, changeDisabled, principalsPage } from '../administer-principals.ts';
import { cursorOf, parseCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { authenticate, principalOf } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { adminOnly } from '../operator-access.ts';
import { parseQuery } from '../parse-query.ts';
import { refuseUnknownQuery } from '../parse-submission.ts';
import { jsonBody, readJsonBody } from '../read-json-body.ts';
import {
  principalBody,
  principalsQuery,
  type PrincipalShown,
  type PrincipalsShown,
} from './principals.contract.ts';

const BASE = '/operator/principals';

export function principalsRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  const only = (path: string): RequestHandler[] => [authenticate(deps), adminOnly(deps, path)];
  router
    .route(BASE)
    .get(...only(BASE), (request, response) => list(deps, request, response))
    .post(...only(BASE), ...jsonBody(), (request, response) => create(deps, request, response))
    .all(methodNotAllowed('GET', 'POST'));
  for (const action of ['disable', 'enable'] as const) {
    router
      .route(`${BASE}/:principalId/${action}`)
      .post(...only(`${BASE}/{principal_id}/${action}`), (request, response) =>
        change(deps, request, response, action === 'disable'),
      )
      .all(methodNotAllowed('POST'));
  }
  return router;
}

const Place = z.strictObject({
  after: z
    .string()
    .max(255)
    .regex(/^[^\0]+$/),
});

async function list(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  const { cursor, limit } = parseQuery(request, principalsQuery);
  const after = cursor === undefined ? '' : parseCursor(cursor, Place).after;
  const { principals, next } = await principalsPage(deps, principalOf(response), { after, limit });
  const next_cursor = next === null ? null : cursorOf({ after: next });
  response.json({ principals: principals.map(shown), next_cursor } satisfies PrincipalsShown);
}

async function create(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  refuseUnknownQuery(request);
  const wish = readJsonBody(request, principalBody);
  response.status(201).json(shown(await addPrincipal(deps, principalOf(response), wish)));
}

async function change(
  deps: ApiDependencies,
  request: Request,
  response: Response,
  disabled: boolean,
): Promise<void> {
  refuseUnknownQuery(request);
  const principalId = String(request.params['principalId']);
  const admin = principalOf(response);
  response.json(shown(await changeDisabled(deps, admin, principalId, disabled)));
}

function shown(one: ListedPrincipal): PrincipalShown {
  return {
    principal_id: one.principalId,
    owner: one.owner,
    roles: [...one.roles],
    grants: [...one.grants],
    signs_in_by: one.signsInBy,
    created_at: one.createdAt,
    disabled_at: one.disabledAt,
  };
}

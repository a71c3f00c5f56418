// API keys, for the admins of their account.
import { Router, type Request, type RequestHandler, type Response } from 'express';
import type { ApiKey } from '../../store/api-keys.store.ts';
import { addKey, keysOf, rotateKey, takeKey, type NewKey } from '../administer-keys.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { authenticate, principalOf } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { adminOnly } from '../operator-access.ts';
import { refuseUnknownQuery } from '../parse-submission.ts';
import { jsonBody, readJsonBody } from '../read-json-body.ts';
import { keyBody, rotateBody, type KeyShown } from './api-keys.contract.ts';

const OF_PRINCIPAL = '/operator/principals/{principal_id}/keys';

export function apiKeysRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  const only = (path: string): RequestHandler[] => [authenticate(deps), adminOnly(deps, path)];
  router
    .route('/operator/principals/:principalId/keys')
    .get(...only(OF_PRINCIPAL), (request, response) => list(deps, request, response))
    .post(...only(OF_PRINCIPAL), ...jsonBody(), (request, response) =>
      create(deps, request, response),
    )
    .all(methodNotAllowed('GET', 'POST'));
  router
    .route('/operator/keys/:keyId/rotate')
    .post(...only('/operator/keys/{key_id}/rotate'), ...jsonBody(), (request, response) =>
      rotate(deps, request, response),
    )
    .all(methodNotAllowed('POST'));
  router
    .route('/operator/keys/:keyId/revoke')
    .post(...only('/operator/keys/{key_id}/revoke'), (request, response) =>
      revoke(deps, request, response),
    )
    .all(methodNotAllowed('POST'));
  return router;
}

async function list(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  refuseUnknownQuery(request);
  const keys = await keysOf(deps, principalOf(response), String(request.params['principalId']));
  response.json({ keys: keys.map(shown) });
}

async function create(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  refuseUnknownQuery(request);
  const { expires_at = null } = readJsonBody(request, keyBody);
  const principalId = String(request.params['principalId']);
  answerNew(response, await addKey(deps, principalOf(response), principalId, expires_at));
}

async function rotate(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  refuseUnknownQuery(request);
  const { overlap_seconds, expires_at } = readJsonBody(request, rotateBody);
  const rotation = { overlapSeconds: overlap_seconds, expiresAt: expires_at };
  const keyId = String(request.params['keyId']);
  answerNew(response, await rotateKey(deps, principalOf(response), keyId, rotation));
}

async function revoke(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  refuseUnknownQuery(request);
  const key = await takeKey(deps, principalOf(response), String(request.params['keyId']));
  response.json(shown(key));
}

/** Nothing between here and the admin may keep the secret. */
function answerNew(response: Response, key: NewKey): void {
  response.status(201).set('Cache-Control', 'no-store');
  response.json({ ...shown(key), secret: key.secret });
}

function shown(key: ApiKey): KeyShown {
  return {
    key_id: key.keyId,
    principal_id: key.principalId,
    created_at: key.createdAt,
    expires_at: key.expiresAt,
    revoked_at: key.revokedAt,
    last_used_at: key.lastUsedAt,
  };
}

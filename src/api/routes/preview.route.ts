// Previews of submissions.
import express, { Router, type Request, type RequestHandler, type Response } from 'express';
import type { ApiDependencies } from '../dependencies.ts';
import { authenticate, principalOf, requireRole } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { MAX_BODY_BYTES, parsePreview, requireJsonMediaType } from '../parse-submission.ts';
import { parseQuery } from '../parse-query.ts';
import { previewOperation } from '../preview-operation.ts';
import { previewContracts } from './preview.contract.ts';

export function previewRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/agent/operations/:kind/preview')
    .post(
      authenticate(deps),
      agentWithJson,
      express.raw({ type: () => true, limit: MAX_BODY_BYTES, inflate: false }),
      (request, response) => preview(deps, request, response),
    )
    .all(methodNotAllowed('POST'));
  return router;
}

const agentWithJson: RequestHandler = (request, response, next) => {
  requireRole(principalOf(response), previewContracts.preview.roles);
  requireJsonMediaType(request);
  next();
};

async function preview(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  parseQuery(request, previewContracts.preview.query);
  const principal = principalOf(response);
  const kind = String(request.params['kind']);
  response.json(await previewOperation(deps, { ...parsePreview(request), principal, kind }));
}

// The approval desk.
import { Router, type Request, type RequestHandler, type Response } from 'express';
import {
  approvalsPage,
  decide,
  noSuchApproval,
  requireApprover,
  showApproval,
  type Attempted,
} from '../decide-approval.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { authenticate, principalOf, requireRole } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { isId } from '../openapi/members.ts';
import { parseQuery } from '../parse-query.ts';
import { refuseUnknownQuery } from '../parse-submission.ts';
import { jsonBody, readJsonBody } from '../read-json-body.ts';
import { approvalContracts, approvalsQuery, decisionBody } from './approvals.contract.ts';

const ACTIONS = { approve: 'approved', reject: 'rejected' } as const;
type Action = keyof typeof ACTIONS;

export function approvalsRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/approvals')
    .get(authenticate(deps), (_request, response) => list(deps, _request, response))
    .all(methodNotAllowed('GET'));
  router
    .route('/approvals/:approvalId')
    .get(authenticate(deps), (request, response) => show(deps, request, response))
    .all(methodNotAllowed('GET'));
  for (const action of ['approve', 'reject'] as const) {
    router
      .route(`/approvals/:approvalId/${action}`)
      .post(authenticate(deps), approverOnly(deps, action), ...jsonBody(), (request, response) =>
        take(deps, action, request, response),
      )
      .all(methodNotAllowed('POST'));
  }
  return router;
}

async function list(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  const principal = principalOf(response);
  requireRole(principal, approvalContracts.list.roles);
  response.json(await approvalsPage(deps, principal, parseQuery(request, approvalsQuery)));
}

async function show(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  const principal = principalOf(response);
  requireRole(principal, approvalContracts.show.roles);
  refuseUnknownQuery(request);
  response.json(await showApproval(deps, principal, idOf(request)));
}

/** Before the body is read: who may not decide learns nothing of what is wrong with it. */
function approverOnly(deps: ApiDependencies, action: Action): RequestHandler {
  return async (request, response, next) => {
    refuseUnknownQuery(request);
    await requireApprover(deps, attemptedBy(request, response, action));
    next();
  };
}

async function take(
  deps: ApiDependencies,
  action: Action,
  request: Request,
  response: Response,
): Promise<void> {
  const { fingerprint, comment = null } = readJsonBody(request, decisionBody);
  const wish = { decision: ACTIONS[action], fingerprint };
  const attempted = attemptedBy(request, response, action);
  response.json(await decide(deps, attempted, { wish, comment }));
}

function attemptedBy(request: Request, response: Response, action: Action): Attempted {
  const route = `/approvals/{id}/${action}`;
  return { by: principalOf(response), approvalId: idOf(request), route };
}

function idOf(request: Request): string {
  const id = String(request.params['approvalId']);
  if (!isId(id)) throw noSuchApproval();
  return id;
}

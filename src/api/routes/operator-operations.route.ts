// What people do about single operations: have the provider asked, resolve, release, erase.
import { Router, type Request, type RequestHandler, type Response } from 'express';
import { representationOf } from '../../domain/representation.ts';
import { decideOutcome, lookNow, releaseKey } from '../decide-outcome.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { erasePersonalData } from '../erase-operation.ts';
import { authenticate, principalOf } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { isId } from '../openapi/members.ts';
import { noSuchOperation, requireDecider, type OperatorRequest } from '../operator-access.ts';
import { refuseUnknownQuery } from '../parse-submission.ts';
import { jsonBody, readJsonBody } from '../read-json-body.ts';
import { answerAccepted, answerRead, locationOf } from '../replay-response.ts';
import {
  operatorOperationContracts,
  releaseBody,
  resolveBody,
} from './operator-operations.contract.ts';

const BASE = '/operator/operations/:operationId';

export function operatorOperationsRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  router
    .route(`${BASE}/reconcile`)
    .post(...operatorOnly(deps, 'reconcile'), (request, response) =>
      reconcile(deps, request, response),
    )
    .all(methodNotAllowed('POST'));
  router
    .route(`${BASE}/resolve`)
    .post(...operatorOnly(deps, 'resolve'), ...jsonBody(), (request, response) =>
      resolve(deps, request, response),
    )
    .all(methodNotAllowed('POST'));
  router
    .route(`${BASE}/release`)
    .post(...operatorOnly(deps, 'release'), ...jsonBody(), (request, response) =>
      release(deps, request, response),
    )
    .all(methodNotAllowed('POST'));
  router
    .route(`${BASE}/erase`)
    .post(...operatorOnly(deps, 'erase'), (request, response) => erase(deps, request, response))
    .all(methodNotAllowed('POST'));
  return router;
}

async function reconcile(
  deps: ApiDependencies,
  request: Request,
  response: Response,
): Promise<void> {
  answerAccepted(response, await lookNow(deps, deciderOf(response, 'reconcile'), idOf(request)));
}

async function resolve(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  const decider = deciderOf(response, 'resolve');
  const body = readJsonBody(request, resolveBody);
  const decision = {
    outcome: body.outcome,
    evidence: body.evidence,
    providerReference: body.provider_reference ?? null,
    externalCheck: body.external_check ?? null,
  };
  const decided = await decideOutcome(deps, decider, idOf(request), decision);
  if (decided.status === 'applied') {
    answerRead(response, decided.file);
    return;
  }
  const { file, status, at } = decided;
  const { outcome, providerReference: provider_reference } = decision;
  const principal_id = decider.principal.principalId;
  response.status(202).set('Location', locationOf(file.operation.operationId));
  response.json({
    ...representationOf(file),
    resolution: { status, outcome, provider_reference, principal_id, at },
  });
}

async function release(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  const decider = deciderOf(response, 'release');
  const { evidence } = readJsonBody(request, releaseBody);
  answerRead(response, await releaseKey(deps, decider, idOf(request), evidence));
}

async function erase(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  answerRead(response, await erasePersonalData(deps, deciderOf(response, 'erase'), idOf(request)));
}

/** Before the body is read: who may not decide learns nothing of what is wrong with it. */
function operatorOnly(deps: ApiDependencies, action: Action): RequestHandler[] {
  const only: RequestHandler = async (request, response, next) => {
    refuseUnknownQuery(request);
    await requireDecider(
      deps,
      deciderOf(response, action),
      operatorOperationContracts[action].roles,
    );
    next();
  };
  return [authenticate(deps), only];
}

type Action = 'reconcile' | 'resolve' | 'release' | 'erase';

function deciderOf(response: Response, action: Action): OperatorRequest {
  return { principal: principalOf(response), route: `/operator/operations/{id}/${action}` };
}

function idOf(request: Request): string {
  const id = String(request.params['operationId']);
  if (!isId(id)) throw noSuchOperation();
  return id;
}

// Submitting and reading operations.
import express, { Router, type Request, type RequestHandler, type Response } from 'express';
import { HoldfastError } from '../../domain/operation-error.ts';
import type { OperationFile } from '../../domain/operation.ts';
import { isRestingPlace, isSettled } from '../../domain/operation-state.ts';
import { KINDS } from '../../operations/registry.ts';
import { readFile } from '../../store/operations.store.ts';
import { countSubmit } from '../count-submits.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { mayRead } from '../may-read.ts';
import { stepAside } from '../middleware/admission.ts';
import { authenticate, callerOf, principalOf, requireRole } from '../middleware/authenticate.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { isId } from '../openapi/members.ts';
import {
  MAX_BODY_BYTES,
  parseSubmission,
  preferredWaitMs,
  refuseUnknownQuery,
  requireJsonMediaType,
  submittedKey,
} from '../parse-submission.ts';
import { answerRead, answerSubmit } from '../replay-response.ts';
import { submitOperation } from '../submit-operation.ts';
import type { Submitted } from '../submission.types.ts';

export function operationsRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  // One path shape serves two resources: a kind takes POST, an operation id takes GET.
  router
    .route('/agent/operations/:name')
    .all(authenticate(deps, { keyOf: submittedKey }), refuseOtherMethods)
    .post(
      requireAgent,
      jsonOnly,
      express.raw({ type: () => true, limit: MAX_BODY_BYTES, inflate: false }),
      (request, response) => submit(deps, request, response),
    )
    .get((request, response) => read(deps, request, response));
  return router;
}

/** A kind takes POST, an operation id GET. A submit of what is neither is one of a misspelt kind, and hears that first. */
const refuseOtherMethods: RequestHandler = (request, response, next) => {
  const name = String(request.params['name']);
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const allowed = KINDS.includes(name) ? 'POST' : 'GET';
  const misspelt = method === 'POST' && !name.startsWith('op_');
  if (method === allowed) return next();
  if (misspelt) throw new HoldfastError('unknown_kind', 'There is no such kind.');
  return methodNotAllowed(allowed)(request, response);
};

const jsonOnly: RequestHandler = (request, _response, next) => {
  requireJsonMediaType(request);
  next();
};

const requireAgent: RequestHandler = (_request, response, next) => {
  requireRole(principalOf(response), ['agent']);
  next();
};

async function submit(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  refuseUnknownQuery(request);
  const kind = String(request.params['name']);
  const submission = { ...parseSubmission(request), ...callerOf(response), kind };
  const submitted = await countSubmit(deps, kind, () => submitOperation(deps, submission));
  answerSubmit(response, await held(deps, request, response, submitted));
}

/** Holds a submit for as long as its caller asked to be held, and reads the operation anew if it moved. */
async function held(
  deps: ApiDependencies,
  request: Request,
  response: Response,
  submitted: Submitted,
): Promise<Submitted> {
  const file = await waitForRest(deps, request, response, submitted.file);
  const replayed = submitted.disposition === 'in_progress' && isSettled(file.operation.status);
  return { file, disposition: replayed ? 'replayed' : submitted.disposition };
}

async function waitForRest(
  deps: ApiDependencies,
  request: Request,
  response: Response,
  file: OperationFile,
): Promise<OperationFile> {
  const waitMs = preferredWaitMs(request);
  if (waitMs === 0 || isRestingPlace(file.operation.status)) return file;
  stepAside(response);
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  await deps.watcher.wait(file.operation.operationId, waitMs, gone.signal);
  return (await readFile(deps.pool, file.operation.operationId)) ?? file;
}

async function read(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  refuseUnknownQuery(request);
  const principal = principalOf(response);
  requireRole(principal, ['agent', 'approver', 'operator']);
  const id = String(request.params['name']);
  const file = isId(id) ? await readFile(deps.pool, id) : undefined;
  if (!file || !mayRead(principal, file.operation)) {
    throw new HoldfastError('not_found', 'There is no such operation.');
  }
  answerRead(response, await waitForRest(deps, request, response, file));
}

// From an operation to an HTTP answer. A settled one is answered with its stored bytes, whoever asks and however often.
import type { Response } from 'express';
import type { OperationFile } from '../domain/operation.ts';
import { isSettled } from '../domain/operation-state.ts';
import { nextPollMs, renderOperation } from '../domain/representation.ts';
import { observedOf } from './observed.ts';
import type { Submitted } from './submission.types.ts';

/** Where an operation is read. */
export function locationOf(operationId: string): string {
  return `/agent/operations/${operationId}`;
}

/** Answers a submit: 200 with the stored bytes once settled, else 202 with what is known now. */
export function answerSubmit(response: Response, { disposition, file }: Submitted): void {
  response.set('Operation-Disposition', disposition);
  response.set('Location', locationOf(file.operation.operationId));
  if (disposition === 'replayed') response.set('Idempotent-Replayed', 'true');
  answerFile(response, file, 202);
}

/** Answers a read: always 200. */
export function answerRead(response: Response, file: OperationFile): void {
  answerFile(response, file, 200);
}

/** Answers a wish that is carried out later: 202 with the operation as it stands. */
export function answerAccepted(response: Response, file: OperationFile): void {
  response.set('Location', locationOf(file.operation.operationId));
  answerFile(response, file, 202);
}

function answerFile(response: Response, file: OperationFile, openStatus: number): void {
  observedOf(response).operation = file.operation;
  const { status, responseBody, responseStatus } = file.operation;
  // What is sent is settled by then: Express's `send` would look at it, its type and its length once more.
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  if (isSettled(status) && responseBody !== null) {
    send(response.status(responseStatus ?? 200), responseBody);
    return;
  }
  const pollMs = nextPollMs(status);
  if (pollMs !== undefined) response.set('Retry-After', String(Math.ceil(pollMs / 1_000)));
  send(response.status(openStatus), renderOperation(file));
}

/** With its length also where nobody wants the body: Node leaves that out of the answer to a HEAD. */
function send(response: Response, body: string): void {
  response.setHeader('Content-Length', Buffer.byteLength(body));
  response.end(body);
}

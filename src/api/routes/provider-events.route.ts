// Webhooks: a provider tells what became of an object. The signature is the sender's only credential.
import express, { Router, type Request, type Response } from 'express';
import type { ProviderEvent } from '../../domain/provider-event.ts';
import { HoldfastError } from '../../domain/operation-error.ts';
import { operationAttributes } from '../../observability/operation-attributes.ts';
import { applyProviderEvent, type EventResult } from '../../store/provider-events.store.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { methodNotAllowed } from '../middleware/problem-details.ts';
import { MAX_BODY_BYTES } from '../parse-submission.ts';

export function providerEventsRoute(deps: ApiDependencies): Router {
  const router = Router({ caseSensitive: true });
  router
    .route('/connections/:name/events')
    .post(
      express.raw({ type: () => true, limit: MAX_BODY_BYTES, inflate: false }),
      (request, response) => receive(deps, request, response),
    )
    .all(methodNotAllowed('POST'));
  return router;
}

/** 2xx once the event is written down or known: the sender has no need to tell it again. */
async function receive(deps: ApiDependencies, request: Request, response: Response): Promise<void> {
  const receiver = deps.eventReceiver(String(request.params['name']));
  if (!receiver) throw new HoldfastError('not_found', 'There is no such connection.');
  const body = Buffer.isBuffer(request.body) ? request.body.toString('utf8') : '';
  const event = receiver.read(body, (name) => request.get(name));
  if (!event) {
    deps.logger.warn({ connection: receiver.connection }, 'event without a valid signature');
    throw new HoldfastError('unauthenticated', 'The signature or the event is not valid.');
  }
  const result = await applyProviderEvent(deps.pool, receiver.connection, event, (file) => {
    const [first] = file.attempts;
    return receiver.matches(body, file.operation.kind, first ? first.requestBody : '');
  });
  logEvent(deps, receiver.connection, event, result);
  response.json({ received: true, result: result.status });
}

function logEvent(
  { logger }: ApiDependencies,
  connection: string,
  { eventId, state }: ProviderEvent,
  result: EventResult,
): void {
  const operation = result.status === 'unknown_object' ? undefined : result.file.operation;
  logger.info(
    {
      ...(operation && operationAttributes(operation)),
      connection,
      event_id: eventId,
      told: state,
      result: result.status,
      state: operation?.status,
    },
    'event received',
  );
}

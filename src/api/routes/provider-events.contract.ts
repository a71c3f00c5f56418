// What providers send by themselves.
import { z } from 'zod';
import { contracts } from '../openapi/contract.ts';

export const providerEventsContracts = contracts({
  receive: {
    method: 'post',
    path: '/connections/{name}/events',
    operationId: 'receiveProviderEvent',
    tag: 'Providers',
    summary: 'Webhook of a provider',
    description:
      'Body and signature are those of the provider behind the connection. 2xx once the event is written down, or known.',
    roles: 'provider',
    pathParameters: z.object({ name: z.string().meta({ description: 'Name of a connection.' }) }),
    answers: {
      200: {
        description: 'Received.',
        schema: z.strictObject({ received: z.literal(true), result: z.string() }),
      },
    },
    problems: ['unauthenticated', 'not_found', 'payload_too_large'],
  },
});

// `POST /admin/webhooks/deliver`: events on demand, as many and in the order that a test wants.
import { z } from 'zod';
import { newEventId, tell, tellOfUnknown, type ProviderEvent } from './events.ts';
import { refusal, type Answer, type WriteRequest } from './records.ts';
import type { WebhookEndpoint, Webhooks } from './webhooks.ts';
import type { World } from './world.ts';

const text = z.string().min(1);
const EventType = z
  .string()
  .regex(/^[a-z][a-z_]*\.[a-z][a-z_]*$/, 'a kind and what happened: "payment.succeeded"');

/** Loose, and `parallel` may be a text: the runner of the cases passes its whole step along, with what is meant for itself. */
export const Delivery = z
  .looseObject({
    event: EventType.optional(),
    events: z.array(EventType).min(1).optional(),
    kind: text.optional(),
    match: z.array(text).min(1).optional(),
    token: text.nullish(),
    times: z.int().min(1).max(100).default(1),
    parallel: z.union([z.boolean(), z.string()]).default(false),
    fresh_event_ids: z.boolean().default(false),
    attempt: z.enum(['current', 'earlier']).default('current'),
    object: z.literal('unknown').optional(),
  })
  .refine((wanted) => (wanted.event === undefined) !== (wanted.events === undefined), {
    message: 'either event or events',
  })
  .refine((wanted) => wanted.object === 'unknown' || wanted.kind !== undefined, {
    message: 'kind: whose object the event is about, unless the object is "unknown"',
  });
export type Delivery = z.infer<typeof Delivery>;

interface Target {
  readonly endpoint: WebhookEndpoint;
  /** Absent: an object that nobody knows. */
  readonly write?: WriteRequest;
}

/** Tells what is wanted; answers once all deliveries are answered. Changes nothing where nobody could be told. */
export async function deliver(
  { world, webhooks }: { readonly world: World; readonly webhooks: Webhooks },
  wanted: Delivery,
): Promise<Answer> {
  const target = targetOf(world, webhooks, wanted);
  if ('status' in target) return target;
  const { endpoint, write } = target;
  const send = async (event: ProviderEvent) => ({
    event_id: event.id,
    status: await webhooks.deliver(endpoint, event),
  });
  const sent: ReturnType<typeof send>[] = [];
  for (const type of wanted.events ?? [wanted.event ?? '']) {
    const event = write ? tell(world, write, type, wanted.attempt) : tellOfUnknown(type);
    for (let n = 1; n <= wanted.times; n++) {
      const own = wanted.fresh_event_ids && n > 1 ? { ...event, id: newEventId() } : event;
      sent.push(send(own));
      // One after the other: the next event tells of its change only once this one has been answered.
      if (wanted.parallel !== true) await sent.at(-1);
    }
  }
  return { status: 200, body: { deliveries: await Promise.all(sent) } };
}

/** 409 where there is no target: 404 would say that webhooks are not offered. */
function targetOf(
  world: World,
  webhooks: Webhooks,
  { kind = '', match, token, object }: Delivery,
): Target | Answer {
  if (object === 'unknown') {
    const endpoint = webhooks.first;
    return endpoint ? { endpoint } : refusal(409, 'no_endpoint', 'There is nobody to tell.');
  }
  const write = world.newestWrite({ kind, match }, token ?? undefined);
  if (write === undefined) {
    return refusal(409, 'no_such_object', `There is no ${kind} of that token or text.`);
  }
  const endpoint = webhooks.of(write.account);
  if (endpoint) return { endpoint, write };
  return refusal(409, 'no_endpoint', 'The account of this object has no webhook endpoint.');
}

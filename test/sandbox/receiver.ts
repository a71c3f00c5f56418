// A receiver of the sandbox's events on a real socket: it keeps what came in and answers as it is told.
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach } from 'vitest';
import { z } from 'zod';
import type { SandboxOptions } from '../../src/sandbox/app.ts';
import { sandbox } from './client.ts';

const Event = z.object({
  id: z.string(),
  type: z.string(),
  created_at: z.iso.datetime(),
  attempt: z.string(),
  data: z.object({ object: z.looseObject({ id: z.string(), state: z.string() }) }),
});
type Event = z.infer<typeof Event>;

export interface Received {
  readonly path: string;
  readonly type: string | undefined;
  readonly signature: string;
  readonly raw: string;
  readonly event: Event;
}

const closing: (() => void)[] = [];

afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const SECRET = 'a-webhook-secret';

type Respond = (res: ServerResponse, received: Received, nth: number) => unknown;

/** A started receiver; closed after the test. `respond` answers, with 204 unless a test says otherwise. */
export async function receiver(respond: Respond = (res) => res.writeHead(204).end()) {
  const received: Received[] = [];
  const receive = async (req: IncomingMessage, res: ServerResponse) => {
    const raw = await text(req);
    const one = {
      path: req.url ?? '',
      type: req.headers['content-type'],
      signature: String(req.headers['sandbox-signature']),
      raw,
      event: Event.parse(JSON.parse(raw)),
    };
    received.push(one);
    await respond(res, one, received.length);
  };
  const server = createServer((req, res) => void receive(req, res));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.push(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP port');
  const base = `http://127.0.0.1:${address.port}`;
  return {
    received,
    events: () => received.map(({ event }) => event),
    endpoint: (credential = 'acct') => ({
      credential,
      url: `${base}/connections/${credential}/events`,
      secret: SECRET,
    }),
  };
}

/** What the signature of a delivery must be, as its receiver works it out. */
export function signatureFor({ signature, raw }: Received): string {
  const at = /^t=(\d+),/.exec(signature)?.[1] ?? '';
  return `t=${at},v1=${createHmac('sha256', SECRET).update(`${at}.${raw}`).digest('hex')}`;
}

/** A provider of one account with a receiver. */
export async function told(respond?: Respond, options: Partial<SandboxOptions> = {}) {
  const ear = await receiver(respond);
  const provider = await sandbox({ webhooks: [ear.endpoint()], ...options });
  const deliver = async (event: string, wanted: object = {}) => {
    const body = { event, kind: 'payment', ...wanted };
    const answer = await provider.admin('/admin/webhooks/deliver', body);
    return { ...answer, deliveries: answer.deliveries };
  };
  const stateOf = async (token = 't-1') => (await provider.lookup({ token })).data[0]?.['state'];
  return { ear, provider, deliver, stateOf };
}

// The sandbox provider: a provider of the outside world that can be broken on purpose. It knows nothing of this project's own code,
// and is reached over the network only, like any provider.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { Express } from 'express';
import type { Logger } from '../observability/logger.ts';
import { createAdminApp } from './admin.ts';
import { CallLog } from './calls.ts';
import { Faults } from './faults.ts';
import { openJournal } from './journal.ts';
import { createPublicApp } from './public.ts';
import { Webhooks, type WebhookEndpoint } from './webhooks.ts';
import { World } from './world.ts';

/** What may be set; the defaults suit a client whose deadline is 5 s. */
export interface SandboxOptions {
  /** Where effects and tokens are kept across restarts; without it they end with the process. */
  readonly home?: string | undefined;
  /** How long a call that gets no answer is held open: well past the client's deadline. */
  readonly holdMs?: number | undefined;
  /** When `hang_then_commit` acts: past the client's deadline, within what a client must reckon with. */
  readonly hangMs?: number | undefined;
  /** How old an effect is before lookups show it; a real provider's index may lag, this one's does not unless asked to. */
  readonly visibilityLagMs?: number | undefined;
  /** Where events go: one endpoint for each account; an account without one hears nothing. */
  readonly webhooks?: readonly WebhookEndpoint[] | undefined;
  /** How long `webhook_before_response` waits for the receiver. */
  readonly webhookWaitMs?: number | undefined;
  readonly logger?: Logger | undefined;
}

/** Both sides of a provider, not yet listening. */
export interface Sandbox {
  readonly publicApp: Express;
  readonly adminApp: Express;
  /** Ends what still waits to act, which then never will, and closes the journal. */
  close(): void;
}

/** Builds a provider; reads its journal, and throws where that can't be read. */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  const { home, holdMs = 30_000, hangMs = 7_000, visibilityLagMs = 0, logger } = options;
  const { webhooks: endpoints = [], webhookWaitMs = 2_000 } = options;
  const journal = openJournal(home);
  const faults = new Faults();
  const world = new World(journal, (record) => faults.retentionMs(record));
  const calls = new CallLog();
  const stopping = new AbortController();
  const stopped = stopping.signal;
  const webhooks = new Webhooks(endpoints, stopped);
  const shared = { world, faults, calls, webhooks, logger };
  const patience = { holdMs, hangMs, visibilityLagMs, webhookWaitMs, stopped };
  return {
    publicApp: createPublicApp({ ...shared, ...patience }),
    adminApp: createAdminApp(shared),
    close: () => {
      stopping.abort();
      journal.close();
    },
  };
}

/** A provider that listens. */
export interface RunningSandbox {
  readonly url: string;
  readonly adminUrl: string;
  /** Cuts what is open, as a process that ends does; may be called twice. */
  stop(): Promise<void>;
}

/** Where both sides listen; 0 takes any free port. */
interface Place {
  readonly port: number;
  readonly adminPort: number;
  /** Loopback unless told otherwise: anyone who reaches these ports may do everything. */
  readonly host?: string | undefined;
}

/** Starts a provider on two ports. Rejects with a sentence where one is taken. */
export async function startSandbox(options: SandboxOptions & Place): Promise<RunningSandbox> {
  const servers = [createServer(), createServer()] as const;
  const closeServers = () => Promise.all(servers.map(closeServer));
  try {
    const [url, adminUrl] = await listenBoth(servers, options);
    // Only now: the journal may be that of a provider which runs already, on the very ports that are wanted here.
    const sandbox = createSandbox(options);
    servers[0].on('request', sandbox.publicApp);
    servers[1].on('request', sandbox.adminApp);
    let stopping: Promise<void> | undefined;
    const stop = () => (stopping ??= closeServers().then(() => sandbox.close()));
    return { url, adminUrl, stop };
  } catch (error) {
    await closeServers();
    throw error;
  }
}

/** Both settle before a failure is told, so that no server is left that listens later. */
async function listenBoth(
  servers: readonly [Server, Server],
  { port, adminPort, host = '127.0.0.1' }: Place,
): Promise<readonly [string, string]> {
  const opened = [
    listen(servers[0], { port, host }, 'SANDBOX_PORT'),
    listen(servers[1], { port: adminPort, host }, 'SANDBOX_ADMIN_PORT'),
  ] as const;
  await Promise.allSettled(opened);
  return Promise.all(opened);
}

/** Answers the URL at which this machine reaches it. */
async function listen(
  server: Server,
  { port, host }: { readonly port: number; readonly host: string },
  variable: string,
): Promise<string> {
  // A client that reuses a connection just as it is closed gets an error nobody asked for.
  server.keepAliveTimeout = 60_000;
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (cause) {
    const taken = cause instanceof Error && 'code' in cause && cause.code === 'EADDRINUSE';
    if (!taken) throw cause;
    const text = `port ${port} is in use; stop what listens there or set ${variable} to a free port`;
    throw new Error(text, { cause });
  }
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('sandbox: not a TCP port');
  return `http://127.0.0.1:${address.port}`;
}

async function closeServer(server: Server): Promise<void> {
  if (!server.listening) return;
  const closed = once(server, 'close');
  server.close();
  server.closeAllConnections();
  await closed;
}

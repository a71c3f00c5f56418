// The HTTP server around the app: every wait has an end, and a stop answers what is under way.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';

/** A request must arrive whole within this: 256 KiB over a poor line. A slow sender must not keep a place for ever. */
const REQUEST_TIMEOUT_MS = 15_000;
/** Headers are one packet or two. */
const HEADERS_TIMEOUT_MS = 5_000;
/** How often both are looked at; Node's default of 30 s would make them mean little. */
const TIMEOUT_CHECK_MS = 2_000;
/** Node's default, named: the longest key, credential and trace together are below 2 KiB. */
const MOST_HEADER_BYTES = 16 * 1_024;
/** Those at work, those held, and as many idle ones; about 20 KiB each. Beyond it a connection is closed as it comes. */
const MOST_CONNECTIONS = 4_000;
/** Connections that come in one burst wait here until they are accepted; the system may cap it (4096 on Linux). */
const BACKLOG = 2_048;
/** A connection whose answer has just gone out is idle from then on; it is looked for this often while stopping. */
const CLOSE_IDLE_EVERY_MS = 50;

export function createHttpServer(app: RequestListener): Server {
  const server = createServer(
    {
      requestTimeout: REQUEST_TIMEOUT_MS,
      headersTimeout: HEADERS_TIMEOUT_MS,
      connectionsCheckingInterval: TIMEOUT_CHECK_MS,
      maxHeaderSize: MOST_HEADER_BYTES,
    },
    app,
  );
  server.maxConnections = MOST_CONNECTIONS;
  return server;
}

/** Rejects with the server's own error, for example where the port is taken. */
export async function listen(server: Server, port: number, host: string): Promise<void> {
  server.listen({ port, host, backlog: BACKLOG });
  await once(server, 'listening');
}

/** Takes no new connection and waits for the requests under way; those that last longer than `withinMs` lose their connection. */
export async function closeInOrder(server: Server, withinMs: number): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  const idle = setInterval(() => server.closeIdleConnections(), CLOSE_IDLE_EVERY_MS);
  const late = setTimeout(() => server.closeAllConnections(), withinMs);
  await closed;
  clearInterval(idle);
  clearTimeout(late);
}

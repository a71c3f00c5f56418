// Answers `GET /metrics`, on a port or a socket of its own: numbers about all accounts are no business of the API's callers.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

export interface MetricsServer {
  stop(): Promise<void>;
}

/** What a scrape is answered with. */
export interface Exposition {
  readonly contentType: string;
  readonly body: string;
}

/** A TCP port of one address, or the path of a Unix socket. */
export type Listening =
  { readonly port: number; readonly host: string } | { readonly path: string };

/** Starts to listen; rejects where the port is taken. */
export async function serveMetrics(
  where: Listening,
  render: () => Promise<Exposition>,
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    if (request.method !== 'GET' || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(404).end();
    } else {
      void answer(response, render);
    }
  });
  server.listen(where);
  await once(server, 'listening');
  // Nothing waits for the last scrape.
  server.unref();
  return {
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(response: ServerResponse, render: () => Promise<Exposition>): Promise<void> {
  try {
    const { contentType, body } = await render();
    response.writeHead(200, { 'content-type': contentType }).end(body);
  } catch {
    response.writeHead(500).end();
  }
}

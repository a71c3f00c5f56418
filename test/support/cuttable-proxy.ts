// A TCP proxy on a free port whose connections a test can cut, so that both sides notice as they do when a network parts them.
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

export interface CuttableProxy {
  /** host:port */
  readonly address: string;
  /** Ends every connection; new ones are taken as before. */
  readonly cut: () => void;
  readonly stop: () => void;
}

/** Passes bytes between its port and `target` (host:port). */
export async function startCuttableProxy(target: string): Promise<CuttableProxy> {
  const [host = '', port = ''] = target.split(':');
  const open = new Set<Socket>();
  const keep = (socket: Socket): void => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    // The other side's end is what matters; see `pipe` below.
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((near) => {
    const far = connect({ host, port: Number(port) });
    keep(near);
    keep(far);
    near.pipe(far).pipe(near);
    near.once('close', () => far.destroy());
    far.once('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const at = server.address();
  if (at === null || typeof at === 'string') throw new Error('no port');
  const cut = (): void => {
    for (const socket of open) socket.destroy();
  };
  return {
    address: `127.0.0.1:${at.port}`,
    cut,
    stop: () => {
      cut();
      server.close();
    },
  };
}

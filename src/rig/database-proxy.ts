// Between an API and Postgres: a connection that the rig can cut, as a network cuts it, without the API knowing.
import { once } from 'node:events';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import type { CrashPoints } from './crash-points.ts';
import { partedPath, partitionPath } from './places.ts';

/** A partition begins this soon after it was asked for. */
const LOOK_EVERY_MS = 50;

/** What makes a transaction a claim: the statement's text, or its name once a connection knows it (after an empty portal's name). */
const CLAIMS = ['insert into idempotency_keys', '\0claims\0'];

export interface ProxiedDatabase {
  readonly home: string;
  /** 1: the supervisor's own API; 2: one that was started beside it. */
  readonly instance: number;
  readonly url: string;
  readonly points: CrashPoints;
}

/** Answers the URL to use instead. Lasts as long as the process. */
export async function proxyDatabase(database: ProxiedDatabase): Promise<string> {
  const url = new URL(database.url);
  const target = { host: url.hostname, port: Number(url.port) };
  const open = new Set<Socket>();
  const isParted = followPartition(database, () => {
    for (const socket of open) socket.destroy();
  });
  const server = createServer((near) => {
    if (isParted()) {
      near.destroy();
      return;
    }
    const far = connect(target);
    for (const socket of [near, far]) keep(open, socket);
    pass(near, far, database.points);
  });
  server.listen(0, '127.0.0.1').unref();
  await once(server, 'listening');
  const at = server.address();
  if (at === null || typeof at === 'string') throw new Error('the proxy has no port');
  url.hostname = '127.0.0.1';
  url.port = String(at.port);
  return url.href;
}

function keep(open: Set<Socket>, socket: Socket): void {
  open.add(socket);
  socket.setNoDelay(true);
  socket.once('close', () => open.delete(socket));
  // What ended it shows on the other side.
  socket.on('error', () => socket.destroy());
}

/** Passes bytes both ways; at an armed commit of a claim the answer is lost, not the commit. */
function pass(near: Socket, far: Socket, points: CrashPoints): void {
  const commitsClaim = watchClaims();
  let losing = false;
  near.on('data', (chunk: Buffer) => {
    if (commitsClaim(chunk)) losing ||= points.take('commit_of_claim') !== undefined;
    far.write(chunk);
  });
  far.on('data', (chunk: Buffer) => {
    if (losing) near.destroy();
    else near.write(chunk);
  });
  near.once('close', () => far.destroy());
  far.once('close', () => near.destroy());
}

/** True for the message with which a claim becomes durable: the statement itself where no transaction is open. */
function watchClaims(): (chunk: Buffer) => boolean {
  let open = false;
  let claimed = false;
  return (chunk) => {
    if (chunk.includes('begin\0')) open = true;
    if (CLAIMS.some((text) => chunk.includes(text))) claimed = true;
    const ends = chunk.includes('commit\0');
    const commits = claimed && (ends || !open);
    if (commits || chunk.includes('rollback\0')) claimed = false;
    if (ends || chunk.includes('rollback\0')) open = false;
    return commits;
  };
}

/** Follows the partition's file; says so once everything is cut. */
function followPartition({ home, instance }: ProxiedDatabase, cut: () => void): () => boolean {
  let parted = false;
  setInterval(() => {
    const wanted = existsSync(partitionPath(home, instance));
    if (wanted && !parted) {
      parted = true;
      cut();
      writeFileSync(partedPath(home, instance), '');
    } else if (!wanted && parted) {
      parted = false;
      rmSync(partedPath(home, instance), { force: true });
    }
  }, LOOK_EVERY_MS).unref();
  return () => parted;
}

// The rig's way to the supervisor: a socket below the home, served only where HOLDFAST_RIG is set.
import { once } from 'node:events';
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { SupervisorRequest } from '../rig/ask-supervisor.ts';
import { channelPath, createPlaces } from '../rig/places.ts';
import type { SupervisedChild } from './supervised-child.ts';

/** A start after a crash recovers first. */
const READY_WITHIN_MS = 60_000;

/** What the kernel takes as the path of a socket. */
const LONGEST_SOCKET_PATH = 100;

export interface RigChannel {
  close(): void;
}

export interface RiggedProcesses {
  readonly children: SupervisedChild[];
  /** One more worker, not yet started, under a name of its own. */
  readonly spareWorker: () => SupervisedChild;
}

/** Listens until `close`; only the user who runs us can connect. */
export async function serveRig(home: string, processes: RiggedProcesses): Promise<RigChannel> {
  createPlaces(home);
  const path = channelPath(home);
  if (path.length > LONGEST_SOCKET_PATH) {
    throw new Error(
      `HOLDFAST_RIG: ${path} is too long for a socket; choose a shorter HOLDFAST_HOME`,
    );
  }
  rmSync(path, { force: true });
  const server = createServer((socket) => void answer(socket, processes));
  server.listen(path);
  await once(server, 'listening');
  chmodSync(path, 0o600);
  return {
    close() {
      server.close();
      rmSync(path, { force: true });
    },
  };
}

async function answer(socket: Socket, processes: RiggedProcesses): Promise<void> {
  // A caller that is gone needs no answer.
  socket.on('error', () => undefined);
  try {
    const [line] = (await once(createInterface({ input: socket }), 'line')) as [string];
    await carryOut(processes, JSON.parse(line) as SupervisorRequest);
    socket.end('done\n');
  } catch (error) {
    socket.end(`${error instanceof Error ? error.message : String(error)}\n`);
  }
}

async function carryOut(processes: RiggedProcesses, request: SupervisorRequest): Promise<void> {
  switch (request.do) {
    case 'stop':
      for (const child of named(processes, request.names)) await child.stop();
      return;
    case 'start':
      await startAgain(named(processes, request.names));
      return;
    case 'kill':
      for (const child of named(processes, request.names)) child.kill();
      return;
    case 'outage': {
      const down = named(processes, request.names);
      for (const child of down) {
        child.hurry();
        await child.stop();
      }
      setTimeout(() => void startAgain(down).catch(() => undefined), request.for_ms);
      return;
    }
    case 'start_spare_worker':
      await startSpare(processes);
      return;
    case 'stop_spare_worker':
      for (const child of processes.children) if (child.name === SPARE) await child.stop();
  }
}

/** Name of the second worker, in its log and its note. */
export const SPARE = 'worker_spare';

async function startSpare({ children, spareWorker }: RiggedProcesses): Promise<void> {
  if (!children.some(({ name }) => name === SPARE)) {
    const spare = spareWorker();
    children.push(spare);
    spare.start();
  }
  await startAgain(children.filter(({ name }) => name === SPARE));
}

async function startAgain(children: readonly SupervisedChild[]): Promise<void> {
  for (const child of children) child.startAgain();
  for (const child of children) await child.ready(READY_WITHIN_MS, { whateverItTakes: true });
}

function named({ children }: RiggedProcesses, names: readonly string[]): SupervisedChild[] {
  return names.map((name) => {
    const child = children.find((one) => one.name === name);
    if (!child) throw new Error(`no process here is named ${name}`);
    return child;
  });
}

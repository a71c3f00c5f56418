// Runs one copy: claims the home, starts everything in order, keeps it running, stops it in the opposite order.
import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { ChildSpec } from './child-spec.ts';
import { claimHome, createHome } from './home.ts';
import { stopLeftovers } from './leftovers.ts';
import { migrateCommand, ownProcesses } from './own-processes.ts';
import { portProblems } from './ports.ts';
import { postgresSpec, preparePostgres } from './postgres.ts';
import { readyScreen } from './screen.ts';
import { serveRig, SPARE, type RigChannel } from './rig-channel.ts';
import { runToEnd } from './spawn-logged.ts';
import { aborted, type StopRequest } from './stop-request.ts';
import { SupervisedChild } from './supervised-child.ts';
import { temporalSpec } from './temporal.ts';

/** Recovery after a crash, on a slow machine. Beyond it a person should look at the log instead of waiting. */
const READY_WITHIN_MS = 120_000;

export interface SuperviseOptions {
  /** Absolute path of the compiled composition roots. */
  readonly binFolder: string;
  /** Absolute path; may be undefined only where TEMPORAL_ADDRESS is set. */
  readonly temporalCli: string | undefined;
  readonly show: (text: string) => void;
  readonly request: StopRequest;
}

/**
 * Resolves after everything was stopped on request. Throws an Error whose message is for people when the home is in use,
 * a port is taken, or something does not start; whatever had started is stopped again first.
 */
export async function supervise(config: Config, options: SuperviseOptions): Promise<void> {
  createHome(config.home);
  const releaseHome = claimHome(config.home);
  const children: SupervisedChild[] = [];
  const { stop } = options.request;
  const starting = startAll(config, options, children);
  let rig: RigChannel | undefined;
  try {
    await Promise.race([starting, aborted(stop)]);
    if (config.rig && !stop.aborted) rig = await openRig(config, options, children);
    if (!stop.aborted) options.show(readyScreen(config));
    await aborted(stop);
  } finally {
    rig?.close();
    // A start that fails because of the stop is no news, but it has to be over before the home is given back.
    await Promise.allSettled([stopAll(children, options), starting]);
    releaseHome();
  }
}

/** Fills `children` in the order of starting, so that what has started can be stopped however far this came. */
async function startAll(
  config: Config,
  { binFolder, temporalCli, show, request }: SuperviseOptions,
  children: SupervisedChild[],
): Promise<void> {
  const { home } = config;
  const note = (sentence: string): void => show(timed(sentence));
  const start = (spec: ChildSpec): SupervisedChild => {
    request.stop.throwIfAborted();
    const child = new SupervisedChild(spec, home, note);
    children.push(child);
    child.start();
    return child;
  };
  const servers = serverSpecs(config, temporalCli);
  const own = ownProcesses(config, binFolder);
  await stopLeftovers(home, [...servers, ...own].toReversed(), note);
  const problems = await portProblems(config);
  if (problems.length > 0) throw new Error(problems.join('\n'));

  note('starting');
  if (config.postgres.embedded) await preparePostgres(embeddedPostgres(config), request.stop);
  await allReady(servers.map(start));
  request.stop.throwIfAborted();
  await runToEnd(migrateCommand(binFolder), home, { stop: request.stop });
  await allReady(own.map(start));
}

/** Only where it was asked for: whoever reaches this channel can stop everything. */
function openRig(
  config: Config,
  { binFolder, show }: SuperviseOptions,
  children: SupervisedChild[],
): Promise<RigChannel> {
  const spareWorker = (): SupervisedChild => {
    const worker = ownProcesses(config, binFolder).find(({ name }) => name === 'worker');
    if (!worker) throw new Error('there is no worker to be had');
    return new SupervisedChild({ ...worker, name: SPARE }, config.home, (sentence) =>
      show(timed(sentence)),
    );
  };
  return serveRig(config.home, { children, spareWorker });
}

const embeddedPostgres = ({ home, ports }: Config) => ({
  home,
  port: ports.postgres,
  durable: true,
});

const allReady = (started: readonly SupervisedChild[]): Promise<unknown> =>
  Promise.all(started.map((child) => child.ready(READY_WITHIN_MS)));

/** Postgres and Temporal, each only where no outside one is configured. */
function serverSpecs(config: Config, temporalCli: string | undefined): ChildSpec[] {
  const { home, ports, postgres, temporal } = config;
  const specs: ChildSpec[] = [];
  if (postgres.embedded) specs.push(postgresSpec(embeddedPostgres(config)));
  if (!temporal.embedded) return specs;
  if (temporalCli === undefined) throw new Error('TEMPORAL_CLI_PATH: no Temporal CLI is known');
  return [
    ...specs,
    temporalSpec({
      home,
      cli: temporalCli,
      port: ports.temporal,
      uiPort: ports.temporalUi,
      namespace: temporal.namespace,
      databaseFile: join(home, 'temporal.db'),
    }),
  ];
}

/** The last started is stopped first: nothing loses what it depends on while it drains. */
async function stopAll(
  children: readonly SupervisedChild[],
  { show, request }: SuperviseOptions,
): Promise<void> {
  if (children.length > 0) show(timed('stopping; a second Ctrl-C hurries'));
  const hurry = (): void => {
    for (const child of children) child.hurry();
  };
  if (request.hurry.aborted) hurry();
  request.hurry.addEventListener('abort', hurry, { once: true });
  for (const child of children.toReversed()) await child.stop();
  if (children.length > 0) show(timed('stopped'));
}

const timed = (sentence: string): string => `${new Date().toTimeString().slice(0, 8)}  ${sentence}`;

// One port for the processes of one home: each API offers its numbers at a Unix socket there, and the worker shows them with its own.
// A second port would be one more that copies on the same machine have to agree on. On several machines each API has its own port.
import { mkdir, readdir, rm } from 'node:fs/promises';
import { get } from 'node:http';
import { basename, join } from 'node:path';
import { AggregatorRegistry, type Registry } from 'prom-client';
import { serveMetrics, type Exposition, type MetricsServer } from './metrics-server.ts';

const SUFFIX = '.metrics.sock';
/** The other process is on this machine; one that is slower than this has other troubles, and a scrape must not wait for it. */
const GATHER_WITHIN_MS = 1_000;

const folderOf = (home: string): string => join(home, 'run');

interface Family {
  readonly name: string;
  readonly values: readonly { readonly labels: Readonly<Record<string, string | number>> }[];
}

/** Offers the metrics of this process to whoever serves those of the home. `name` is unique among the running processes. */
export async function offerMetrics(
  home: string,
  name: string,
  registry: Registry,
): Promise<MetricsServer> {
  await mkdir(folderOf(home), { recursive: true });
  const path = join(folderOf(home), `${name}${SUFFIX}`);
  // Of a process that had this name and did not end in order.
  await rm(path, { force: true });
  return serveMetrics({ path }, async () => ({
    contentType: 'application/json',
    body: JSON.stringify(await registry.getMetricsAsJSON()),
  }));
}

/** The text of this process's metrics and of those that are offered in the home, each of the latter with its name as `process`. */
export async function expositionOf(own: Registry, home: string): Promise<Exposition> {
  const offered = await Promise.all((await socketsIn(home)).map(gather));
  const all = AggregatorRegistry.aggregate([await own.getMetricsAsJSON(), ...offered]);
  return { contentType: all.contentType, body: await all.metrics() };
}

async function socketsIn(home: string): Promise<string[]> {
  const names = await readdir(folderOf(home)).catch(() => []);
  return names.filter((name) => name.endsWith(SUFFIX)).map((name) => join(folderOf(home), name));
}

/** Empty where the process is gone, or doesn't answer in time. What a process left that is gone is cleared away. */
async function gather(path: string): Promise<Family[]> {
  const text = await read(path).catch((error: unknown) => clearIfDead(path, error));
  if (text === undefined) return [];
  const process = basename(path, SUFFIX);
  return (JSON.parse(text) as Family[]).map((family) => ({
    ...family,
    values: family.values.map((value) => ({ ...value, labels: { ...value.labels, process } })),
  }));
}

/** Nobody listens at it any more; one that is only slow does. */
async function clearIfDead(path: string, error: unknown): Promise<undefined> {
  if (!(error instanceof Error && 'code' in error && error.code === 'ECONNREFUSED')) return;
  await rm(path, { force: true }).catch(() => {});
}

function read(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get({ socketPath: path, path: '/metrics', agent: false }, (response) => {
      const parts: string[] = [];
      response.setEncoding('utf8');
      response.on('data', (part: string) => parts.push(part));
      response.once('end', () => resolve(parts.join('')));
      response.once('error', reject);
    });
    request.setTimeout(GATHER_WITHIN_MS, () => request.destroy(new Error('too slow')));
    request.once('error', reject);
  });
}

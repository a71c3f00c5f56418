// Engine fact 10: what is in the bundle weighs on every open workflow, and a bundle of another SDK version fails in the middle of one.
import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Worker } from '@temporalio/worker';
import { describe, expect, it } from 'vitest';
import { checkedBundlePath } from '../../src/worker/workflow-bundle.ts';
import { quietRuntime } from '../support/quiet-runtime.ts';

const DIST = new URL('../../dist/', import.meta.url);
const PROJECT = new URL('../../', import.meta.url);

const jsonAt = (path: string, base = PROJECT): unknown =>
  JSON.parse(readFileSync(new URL(path, base), 'utf8'));

const HISTORIES = new URL('../replay/histories/', import.meta.url);
/** One recorded run of each workflow. */
const RUNS = ['success', 'resend-child'].flatMap((scenario) =>
  readdirSync(HISTORIES)
    .filter((file) => file.endsWith(`-${scenario}.json`))
    .slice(-1),
);

async function replay(code: string): Promise<Map<string, string | undefined>> {
  const histories = RUNS.map((file) => ({ workflowId: file, history: jsonAt(file, HISTORIES) }));
  const results = new Map<string, string | undefined>();
  const replays = Worker.runReplayHistories({ workflowBundle: { code } }, histories);
  for await (const { workflowId, error } of replays) results.set(workflowId, error?.message);
  return results;
}

describe('the bundle that the build made', () => {
  const code = readFileSync(new URL('workflow-bundle.js', DIST), 'utf8');
  const modules = [...code.matchAll(/^\/\*{3}\/ "([^"]+)"/gm)].map((match) => match[1] ?? '');

  it('has the hash and the SDK version that a worker asks for', async () => {
    expect(await checkedBundlePath(DIST)).toBe(fileURLToPath(new URL('workflow-bundle.js', DIST)));
  });

  it('loads, and carries runs of both workflows', async () => {
    quietRuntime();
    expect(await replay(code)).toEqual(new Map(RUNS.map((file) => [file, undefined])));
  });

  it('would be noticed if it threw while loading', async () => {
    quietRuntime();
    const broken = await replay(`throw new Error('broken');\n${code}`).catch(() => 'refused');
    expect(broken).not.toEqual(new Map(RUNS.map((file) => [file, undefined])));
  });

  it('holds our workflows, a little of the domain, and the SDK, and nothing else', () => {
    expect(modules).toContain('./src/workflows/execute-operation.workflow.ts');
    expect(modules).toContain('./src/workflows/reconcile-operation.workflow.ts');
    const allowed =
      /^(\.\/src\/(workflows|domain)\/|\.\/node_modules\/(@temporalio\/(common|workflow)|nexus-rpc|ms|long)\/|\.\/\(?|\?)/;
    const packages = modules.filter((one) => one.includes('node_modules/'));
    expect(packages.filter((one) => !allowed.test(one))).toEqual([]);
    expect(modules.filter((one) => one.startsWith('./src/') && !allowed.test(one))).toEqual([]);
  });

  it.each(['zod', 'pg', 'express', 'undici', 'pino', 'canonicalize', '@temporalio/activity'])(
    'does not hold %s',
    (name) => {
      expect(modules.filter((one) => one.includes(`/node_modules/${name}/`))).toEqual([]);
    },
  );

  it('requires no module of Node', () => {
    const required = [...code.matchAll(/\brequire\("(?:node:)?([\w/]+)"\)/g)].map(([, one]) => one);
    expect(required.filter((one) => builtinModules.includes(one ?? ''))).toEqual([]);
    expect(modules.filter((one) => one.startsWith('node:'))).toEqual([]);
  });

  it('throws no plain error: that would fail the task and be tried for ever (engine fact 6)', () => {
    const own = modules.filter((one) => one.startsWith('./src/'));
    const throwing = own.filter((one) =>
      /throw new (?:Type|Range)?Error\b/.test(readFileSync(new URL(one, PROJECT), 'utf8')),
    );
    expect(own.length).toBeGreaterThan(3);
    expect(throwing).toEqual([]);
  });
});

interface Lock {
  readonly packages: Readonly<Record<string, { readonly version?: string }>>;
}
interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

describe('the packages of Temporal', () => {
  const { packages } = jsonAt('package-lock.json') as Lock;
  const { dependencies, devDependencies } = jsonAt('package.json') as Manifest;

  it('are one exact version, and each is there a single time', () => {
    const ours = Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) =>
      name.startsWith('@temporalio/'),
    );
    const [version] = new Set(ours.map(([, wanted]) => wanted));
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(new Set(ours.map(([, wanted]) => wanted)).size).toBe(1);
    const installed = Object.entries(packages).filter(([path]) =>
      /node_modules\/@temporalio\/[^/]+$/.test(path),
    );
    expect(installed.filter(([, one]) => one.version !== version)).toEqual([]);
    const names = installed.map(([path]) => path.slice(path.lastIndexOf('@temporalio/')));
    expect(names).toEqual([...new Set(names)]);
  });

  it('share one protobufjs 8 with us, without which no JSON history can be replayed', () => {
    expect(dependencies['protobufjs']).toMatch(/^8\.\d+\.\d+$/);
    expect(packages['node_modules/protobufjs']?.version).toBe(dependencies['protobufjs']);
    const nested = Object.keys(packages).filter((path) =>
      /node_modules\/@temporalio\/.+\/node_modules\/protobufjs$/.test(path),
    );
    expect(nested).toEqual([]);
  });
});

// The sandbox provider as its test rig sees it: what it is told to do wrong, and what really happened there.
import { request } from 'undici';
import { startSandbox, type SandboxOptions } from '../../src/sandbox/app.ts';

export interface ProviderCall {
  readonly type: 'write' | 'lookup';
  readonly token: string | null;
  readonly operation_id: string | null;
  readonly traceparent: string | null;
  readonly request: unknown;
  readonly started_at: string;
  readonly ended_at: string | null;
  readonly mode: string | null;
}

export interface ProviderEffect {
  readonly id: string;
  readonly token: string;
  readonly operation_id: string | null;
  readonly state: 'done' | 'pending' | 'failed';
  readonly amount_minor: string;
}

/** A mode's name, or the mode with its delay. */
export type Mode = string | { readonly mode: string; readonly delay_ms: number };

/** What the provider saw of one operation. */
export interface Seen {
  /** Effects that count as something that happened. */
  readonly effects: number;
  readonly writes: number;
  readonly lookups: number;
  /** Distinct ones of all writes. */
  readonly tokens: readonly (string | null)[];
  readonly bodies: number;
  /** Most writes that were open at one moment. */
  readonly mostInFlight: number;
}

export type ProviderControl = Awaited<ReturnType<typeof startProvider>>;

/** A provider in this process, on ports of its own, reached over the network by everyone else. */
export async function startProvider(options: SandboxOptions = {}) {
  const sandbox = await startSandbox({ port: 0, adminPort: 0, ...options });
  const tell = async (path: string, body: unknown): Promise<void> => {
    const answer = await request(`${sandbox.adminUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      reset: true,
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200) throw new Error(`${path}: ${text}`);
  };
  const list = async <T>(name: 'effects' | 'calls'): Promise<T[]> => {
    const answer = await request(`${sandbox.adminUrl}/admin/${name}`, { reset: true });
    return ((await answer.body.json()) as Record<typeof name, T[]>)[name];
  };
  const effects = () => list<ProviderEffect>('effects');
  const calls = () => list<ProviderCall>('calls');
  return {
    port: Number(new URL(sandbox.url).port),
    adminPort: Number(new URL(sandbox.adminUrl).port),
    stop: () => sandbox.stop(),
    effects,
    calls,
    /** One mode for each coming write that holds `text`, in order. */
    script: (text: string, ...modes: Mode[]) =>
      tell('/admin/script', { kind: 'payment', match: [text], modes }),
    /** How questions about writes that hold `text` are answered from now on. */
    lookups: (text: string, mode: string, ms?: number) =>
      tell('/admin/lookup', { kind: 'payment', match: [text], mode, ms }),
    /** Ends what the provider works on. */
    settle: (token: string, state: 'done' | 'failed') =>
      tell('/admin/objects/settle', { kind: 'payment', token, state }),
    /** Everything about one operation. */
    async sawOf(operationId: string): Promise<Seen> {
      const own = (await calls()).filter((one) => one.operation_id === operationId);
      const writes = own.filter((one) => one.type === 'write');
      const done = (await effects()).filter(
        (one) => one.operation_id === operationId && one.state === 'done',
      );
      return {
        effects: done.length,
        writes: writes.length,
        lookups: own.length - writes.length,
        tokens: [...new Set(writes.map((one) => one.token))],
        bodies: new Set(writes.map((one) => JSON.stringify(one.request))).size,
        mostInFlight: Math.max(0, ...writes.map((one) => openWith(writes, one))),
      };
    },
  };
}

/** How many writes were open when this one began, itself included. */
function openWith(writes: readonly ProviderCall[], { started_at }: ProviderCall): number {
  const before = writes.filter((one) => one.started_at < started_at);
  return 1 + before.filter((one) => one.ended_at === null || one.ended_at > started_at).length;
}

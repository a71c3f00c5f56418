import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { temporalSpec } from '../../src/supervisor/temporal.ts';
import {
  assignmentsIn,
  environmentOf,
  textOf,
  variablesIn,
  yamlOf,
  type Compose,
  type Service,
} from '../support/compose.ts';

const compose = yamlOf('docker-compose.yml') as Compose;
const variables = assignmentsIn(textOf('.env.example'));
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);

/** Somebody waits for its end. */
const endsByItself = (name: string): boolean =>
  services.some(
    ([, one]) => one.depends_on?.[name]?.condition === 'service_completed_successfully',
  );

/** The variables that a process of ours reads. */
function readVariables(): Set<string> {
  const seen = new Set<string>();
  const spy = new Proxy<NodeJS.ProcessEnv>(
    {},
    {
      get: (_, name) => void seen.add(String(name)),
      has: (_, name) => seen.add(String(name)) && false,
    },
  );
  readConfig(spy);
  return seen;
}

const networksOf = ({ networks = ['default'] }: Service): readonly string[] => networks;

describe('every variable of docker-compose.yml', () => {
  it.each(variablesIn(textOf('docker-compose.yml')))('%s stands in .env.example', (name) => {
    expect(variables).toHaveProperty(name);
  });

  it('of .env.example is used', () => {
    expect(Object.keys(variables).toSorted()).toEqual(
      variablesIn(textOf('docker-compose.yml')).toSorted(),
    );
  });

  it('that is a secret must be set, and has no usable value in the example', () => {
    const secrets = Object.keys(variables).filter((name) => name.endsWith('PASSWORD'));
    expect(secrets).toHaveLength(3);
    for (const name of secrets) {
      expect(variables[name]).toMatch(/^change-me/);
      const uses = textOf('docker-compose.yml').match(new RegExp(`\\$\\{${name}[^}]*\\}`, 'g'));
      for (const use of uses ?? []) expect(use).toContain(':?');
    }
  });
});

describe('every service', () => {
  it.each(services)('%s is watched for its health, or ends by itself', (name, service) => {
    expect(service.healthcheck !== undefined).toBe(!endsByItself(name));
  });

  it.each(services)('%s waits for services that can come to what it waits for', (_, service) => {
    for (const [name, { condition }] of Object.entries(service.depends_on ?? {})) {
      const other = compose.services[name];
      expect(other, name).toBeDefined();
      const fitting = other?.healthcheck ? 'service_healthy' : 'service_completed_successfully';
      expect([name, condition]).toEqual([name, fitting]);
    }
  });

  it.each(services)('%s is published on 127.0.0.1 at most', (_, { ports = [] }) => {
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\$\{\w+\}:\d+$/);
  });

  it.each(services)('%s has an image with a version', (_, { image = '' }) => {
    expect(image).toMatch(/^[\w./-]+:v?\d+\.\d+(\.\d+)?$/);
    expect(image).not.toMatch(/auto-setup|base-|latest/);
  });

  it.each(services)('%s uses networks, volumes and files that there are', (_, service) => {
    for (const network of networksOf(service)) {
      expect(network === 'default' || network in compose.networks, network).toBe(true);
    }
    for (const volume of service.volumes ?? []) {
      const [source = ''] = volume.split(':');
      const there = source.startsWith('./') ? existsSync(source) : source in compose.volumes;
      expect(there, source).toBe(true);
    }
  });

  it.each(services)('%s names hosts that it can reach', (_, service) => {
    const environment = environmentOf(service, variables);
    const text = Object.values(environment).join(' ');
    const hosts = services.map(([name]) => name).filter((name) => hostIn(text, name));
    for (const host of hosts) {
      const theirs = networksOf(compose.services[host] ?? {});
      expect(
        networksOf(service).some((one) => theirs.includes(one)),
        host,
      ).toBe(true);
    }
  });

  it('of Temporal is of one version', () => {
    const images = services.map(([, { image = '' }]) => image);
    const server = images.filter((image) => /temporalio\/(server|admin-tools):/.test(image));
    expect(new Set(server.map((image) => image.split(':')[1])).size).toBe(1);
    expect(server).toHaveLength(3);
  });
});

const hostIn = (text: string, name: string): boolean =>
  new RegExp(`(^|[\\s/@])${name}(:\\d|[\\s/]|$)`).test(text);

describe('Temporal', () => {
  it('is set up with the shards that it can never change', () => {
    expect(compose.services['temporal']?.environment).toMatchObject({ NUM_HISTORY_SHARDS: 512 });
  });

  it('has the search attributes of the embedded default', () => {
    const { args } = temporalSpec({
      home: '/',
      cli: '',
      port: 1,
      uiPort: 2,
      namespace: 'default',
      databaseFile: undefined,
    });
    const embedded = args.filter((_, at) => args[at - 1] === '--search-attribute');
    const script = textOf('deploy/temporal/create-namespace.sh');
    const created = [...script.matchAll(/^retry ensure_attribute (\w+) (\w+)$/gm)];
    expect(created.map(([, name, type]) => `${name}=${type}`).toSorted()).toEqual(
      embedded.toSorted(),
    );
  });

  it('keeps its data apart from the register', () => {
    const register = compose.services['postgres'];
    const engine = compose.services['temporal-postgres'];
    expect(register?.volumes?.[0]).not.toBe(engine?.volumes?.[0]);
    expect(networksOf(register ?? {})).not.toContain(networksOf(engine ?? {})[0]);
  });
});

const configOf = (name: string) =>
  readConfig(environmentOf(compose.services[name] ?? {}, variables));

describe('our services', () => {
  it('are these', () => {
    expect(ours.map(([name]) => name)).toEqual(['migrate', 'api', 'worker', 'sandbox']);
  });

  it.each(ours)('%s is given only variables that the configuration reads', (_, service) => {
    const read = readVariables();
    for (const name of Object.keys(service.environment ?? {})) expect(read).toContain(name);
  });

  it.each(ours)('%s can use what it is given', (_, service) => {
    expect(() => readConfig(environmentOf(service, variables))).not.toThrow();
  });

  it.each(['api', 'worker'])('%s reaches the sandbox by its name', (name) => {
    expect(new Set(configOf(name).connections.map(({ baseUrl }) => baseUrl))).toEqual(
      new Set(['http://sandbox:8090']),
    );
  });

  it('read the same settings, but for their own ports and keys', () => {
    const own = ['API_METRICS_PORT', 'DESK_KEY_FILE', 'DESK_PUBLIC_KEYS'];
    const [api, worker] = ['api', 'worker'].map((name) => {
      const settings = Object.entries(compose.services[name]?.environment ?? {});
      return Object.fromEntries(settings.filter(([variable]) => !own.includes(variable)));
    });
    expect(api).toEqual(worker);
  });

  it('keep the private key of the desk to the API; migrate makes it', () => {
    const withKey = services.filter(([, { volumes = [] }]) =>
      volumes.some((volume) => volume.startsWith('desk-key:')),
    );
    expect(withKey.map(([name]) => name)).toEqual(['migrate', 'api']);
    const { keys: made } = configOf('migrate');
    expect(configOf('api').keys.desk.privateKeyFile).toBe(made.desk.privateKeyFile);
    for (const name of ['api', 'worker']) {
      expect(configOf(name).keys.desk.publicKeyFolder).toBe(made.desk.publicKeyFolder);
      const { volumes = [] } = compose.services[name] ?? {};
      expect(volumes).toContain('desk-public:/var/lib/desk-public:ro');
    }
  });

  it('listen where others reach them', () => {
    expect(configOf('api')).toMatchObject({ host: '0.0.0.0', metricsHost: '0.0.0.0' });
    expect(configOf('api').ports).toMatchObject({ api: 8080, apiMetrics: 9464 });
    expect(configOf('worker')).toMatchObject({ metricsHost: '0.0.0.0' });
    expect(configOf('sandbox').sandbox).toEqual({ host: '0.0.0.0', webhookUrl: 'http://api:8080' });
  });

  it.each(ours)('%s runs a file that the build makes', (_, { command = [] }) => {
    const file = /^dist\/bin\/(\w+)\.js$/.exec(command.at(-1) ?? '')?.[1];
    expect(existsSync(`src/bin/${file}.ts`)).toBe(true);
  });

  it.each(ours)('%s has no more rights than it needs', (_, service) => {
    expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], init: true });
  });
});

describe('the image', () => {
  const lines = textOf('Dockerfile').split('\n');
  const copied = lines
    .filter((line) => line.startsWith('COPY ') && !line.includes('--from='))
    .flatMap((line) => line.split(/\s+/).slice(1, -1));

  it('is made of files that there are, and that its context holds', () => {
    const context = textOf('.dockerignore').split('\n');
    expect(copied).toContain('migrations');
    for (const path of copied) {
      expect(existsSync(path), path).toBe(true);
      expect(context).toContain(`!${path}`);
    }
  });

  it('gets nothing into its context that it does not copy', () => {
    const allowed = textOf('.dockerignore')
      .split('\n')
      .filter((line) => line.startsWith('!'))
      .map((line) => line.slice(1));
    expect(allowed.toSorted()).toEqual([...new Set(copied)].toSorted());
  });

  it('runs as somebody without rights, on the Node that the project asks for', () => {
    expect(lines.findLast((line) => line.startsWith('USER '))).toBe('USER node');
    const bases = lines.filter((line) => line.startsWith('FROM '));
    for (const base of bases) expect(base).toMatch(/^FROM node:20-bookworm-slim( AS \w+)?$/);
  });
});

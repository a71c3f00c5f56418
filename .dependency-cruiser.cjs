// Who may import whom: one row per folder of src/, everything not listed is refused. swc reads the source as it is written,
// so imports of types count like any other; the one place where a type may come from further away is named in its row.

/** What each folder may import besides itself. `node`: may it use Node's built-in modules? */
const folders = {
  domain: { packages: ['canonicalize', 'structured-headers'] },
  operations: { ours: ['domain'], packages: ['zod'] },
  workflows: { ours: ['domain'], packages: ['@temporalio/workflow', '@temporalio/common'] },
  providers: { ours: ['domain'], packages: ['undici'], node: true },
  store: { ours: ['domain'], packages: ['pg', 'node-pg-migrate', 'zod'], node: true },
  activities: {
    ours: ['domain', 'operations', 'providers', 'store', 'observability'],
    files: ['workflows/[^/]+\\.contract\\.ts'],
    packages: ['@temporalio/activity', '@temporalio/common'],
    node: true,
  },
  temporal: {
    ours: ['domain', 'observability'],
    files: ['workflows/index\\.ts', 'workflows/messages\\.ts', 'workflows/[^/]+\\.contract\\.ts'],
    packages: ['@temporalio/client', '@temporalio/common'],
    node: true,
  },
  outbox: { ours: ['domain', 'store', 'temporal', 'observability'], node: true },
  recovery: { ours: ['domain', 'store', 'temporal', 'observability'], node: true },
  retention: { ours: ['domain', 'store', 'observability'] },
  audit: { ours: ['domain', 'store', 'signing', 'observability'], node: true },
  cli: {
    ours: ['domain', 'audit', 'signing'],
    packages: ['commander'],
    node: true,
  },
  api: {
    ours: ['domain', 'identity', 'operations', 'store', 'temporal', 'observability'],
    packages: ['express', 'rate-limiter-flexible', 'zod', 'zod-openapi'],
    node: true,
  },
  sandbox: {
    ours: ['observability'],
    files: ['config\\.ts'],
    packages: ['express', 'zod'],
    node: true,
  },
  rig: { ours: ['providers', 'temporal'], node: true },
  supervisor: {
    ours: ['observability'],
    files: [
      ...['config\\.ts', 'rig/ask-supervisor\\.ts', 'rig/places\\.ts'],
      'domain/search-attributes\\.ts',
    ],
    node: true,
  },
  worker: {
    ours: [
      ...['domain', 'operations', 'activities', 'providers', 'store', 'temporal'],
      ...['outbox', 'recovery', 'retention', 'audit', 'observability', 'policy', 'signing'],
    ],
    files: ['config\\.ts', 'workflows/activities\\.contract\\.ts'],
    packages: ['@temporalio/worker'],
    node: true,
  },
  signing: { node: true },
  policy: { ours: ['domain', 'observability'], packages: ['yaml', 'zod'], node: true },
  identity: { ours: ['domain'], packages: ['jose', 'zod'], node: true },
  bootstrap: { ours: ['domain', 'identity', 'operations', 'store', 'signing'], node: true },
  observability: {
    ours: ['domain'],
    packages: [
      ...['pino', 'prom-client', '@opentelemetry/api', '@opentelemetry/sdk-trace-node'],
      '@opentelemetry/exporter-trace-otlp-http',
    ],
    node: true,
  },
};

const inPackage = (name) => `node_modules/(@types/)?${name}/`;

/** Files that wire a process together: bin does it, and these on its behalf. They import whatever they wire. */
const wiring = '^src/api/start-api\\.ts$';

/** The digest of the fingerprint is the one thing that domain takes from Node; it has a rule of its own. */
const digest = '^src/domain/sha256\\.ts$';

const folderRules = Object.entries(folders).map(
  ([folder, { ours = [], files = [], packages = [], node = false }]) => ({
    name: `${folder}-imports-only-its-row`,
    severity: 'error',
    from: { path: `^src/${folder}/`, pathNot: [wiring, digest] },
    to: {
      pathNot: [
        ...[folder, ...ours].map((name) => `^src/${name}/`),
        ...files.map((file) => `^src/${file}$`),
        ...packages.map(inPackage),
      ],
      ...(node && { dependencyTypesNot: ['core'] }),
    },
  }),
);

/** What may come along into the workflow sandbox, at any distance. */
const inBundle = [
  '^src/(workflows|domain)/',
  ...['@temporalio/workflow', '@temporalio/common'].map(inPackage),
  ...folders.domain.packages.map(inPackage),
];

module.exports = {
  forbidden: [
    ...folderRules,
    {
      name: 'domain-sha256-imports-only-crypto',
      severity: 'error',
      from: { path: digest },
      to: { pathNot: ['^src/domain/', '^(node:)?crypto$'] },
    },
    {
      name: 'kinds-do-not-know-each-other',
      severity: 'error',
      from: { path: '^src/operations/([^/]+)/' },
      to: { path: '^src/operations/[^/]+/', pathNot: '^src/operations/$1/' },
    },
    {
      name: 'providers-do-not-know-each-other',
      severity: 'error',
      from: { path: '^src/providers/([^/]+)/' },
      to: { path: '^src/providers/[^/]+/', pathNot: '^src/providers/$1/' },
    },
    {
      name: 'config-imports-only-its-row',
      severity: 'error',
      from: { path: '^src/(config|environment)\\.ts$' },
      to: {
        pathNot: [
          '^src/(domain|identity|signing)/',
          '^src/environment\\.ts$',
          ...['zod'].map(inPackage),
        ],
        dependencyTypesNot: ['core'],
      },
    },
    {
      name: 'nobody-imports-bin',
      severity: 'error',
      from: { pathNot: '^src/bin/' },
      to: { path: '^src/bin/' },
    },
    {
      name: 'only-bin-imports-wiring',
      severity: 'error',
      from: { pathNot: '^src/(bin|worker|bootstrap)/' },
      to: { path: ['^src/(worker|bootstrap)/', wiring] },
    },
    {
      name: 'every-folder-has-its-row',
      severity: 'error',
      from: { path: '^src/[^/]+/', pathNot: `^src/(bin|${Object.keys(folders).join('|')})/` },
      to: {},
    },
    {
      name: 'workflow-bundle-stays-small-and-deterministic',
      comment:
        'Nothing that a workflow reaches, however far away, may touch the world or weigh down every workflow.',
      severity: 'error',
      from: { path: '^src/workflows/index\\.ts$' },
      to: { reachable: true, pathNot: inBundle },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-orphans',
      severity: 'error',
      from: { orphan: true, pathNot: '^src/bin/' },
      to: {},
    },
    {
      name: 'everything-resolves',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'no-development-packages-in-src',
      severity: 'error',
      from: { path: '^src/' },
      to: {
        dependencyTypes: ['npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: 'node_modules/@types/',
      },
    },
  ],
  options: {
    parser: 'swc',
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
    },
  },
};

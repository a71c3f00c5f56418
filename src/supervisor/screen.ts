// What a person sees: one line for each thing that happens, and one screen when everything runs.
import type { Config } from '../config.ts';
import { credentialsPath } from './home.ts';
import { apiUrl } from './own-processes.ts';

/** The screen shown once everything is ready; ends with the line that tools wait for. */
export function readyScreen(config: Config): string {
  const { ports, temporal, postgres } = config;
  const rows: [string, string][] = [
    ['API', apiUrl(config)],
    ['Its document', `${apiUrl(config)}/docs/`],
    [
      'Temporal Web',
      temporal.embedded
        ? `http://127.0.0.1:${ports.temporalUi}`
        : `of the server at ${temporal.address}`,
    ],
    ['Sandbox admin', `http://127.0.0.1:${ports.sandboxAdmin}`],
    ['Metrics', `http://127.0.0.1:${ports.metrics}/metrics`],
    ['Postgres', postgres.embedded ? postgres.url : 'as DATABASE_URL says'],
    [
      'Credentials',
      config.firstCredentials ? credentialsPath(config.home) : 'as docs/identity.md says',
    ],
    ['Logs', `${config.home}/logs`],
  ];
  return [
    '',
    'Holdfast is running.',
    '',
    ...rows.map(([what, where]) => `  ${what.padEnd(15)}${where}`),
    '',
    ...(config.firstCredentials ? tryIt(config) : []),
    'Ctrl-C stops everything; the next start goes on where this one stopped.',
    '',
    `ready ${apiUrl(config)}`,
    '',
  ].join('\n');
}

function tryIt(config: Config): string[] {
  const read = `require(${JSON.stringify(credentialsPath(config.home))}).accounts.acct_a.agent.token`;
  const payment = {
    amount: '25.00',
    currency: 'USD',
    customer_id: 'cus_1',
    invoice_id: 'inv_first',
  };
  return [
    'Try a payment; run it twice and the second answer is the stored first one:',
    '',
    `  curl -i ${apiUrl(config)}/agent/operations/payment \\`,
    `    -H "Authorization: Bearer $(node -p ${shellQuoted(read)})" \\`,
    `    -H 'Idempotency-Key: first-payment' -H 'Prefer: wait=10' -H 'Content-Type: application/json' \\`,
    `    -d ${shellQuoted(JSON.stringify(payment))}`,
    '',
  ];
}

const shellQuoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;

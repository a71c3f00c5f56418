// Composition root of the sandbox provider's process.
import type { Config } from '../config.ts';
import { startSandbox } from '../sandbox/app.ts';
import type { WebhookEndpoint } from '../sandbox/webhooks.ts';
import { runProcess } from './run-process.ts';

await runProcess('sandbox', (config, logger) =>
  startSandbox({
    port: config.ports.sandbox,
    adminPort: config.ports.sandboxAdmin,
    host: config.sandbox.host,
    home: config.home,
    webhooks: webhooksOf(config),
    logger,
  }),
);

/** What a customer would type into the provider's settings. Credentials from the environment are not this process's to read. */
function webhooksOf({ connections, sandbox }: Config): WebhookEndpoint[] {
  return connections.flatMap(({ name, adapter, credential, webhookSecret }) => {
    if (adapter !== 'sandbox') return [];
    if (credential.from !== 'literal' || webhookSecret.from !== 'literal') return [];
    const url = `${sandbox.webhookUrl}/connections/${name}/events`;
    return [{ credential: credential.value, url, secret: webhookSecret.value }];
  });
}

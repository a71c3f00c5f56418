// Composition root of the sandbox provider's process.
import { startSandbox } from '../sandbox/app.ts';
import { runProcess } from './run-process.ts';

await runProcess('sandbox', ({ ports, home }, logger) =>
  startSandbox({ port: ports.sandbox, adminPort: ports.sandboxAdmin, home, logger }),
);

// Composition root of the API's process.
import { startApi } from '../api/start-api.ts';
import { runProcess } from './run-process.ts';

await runProcess('api', startApi);

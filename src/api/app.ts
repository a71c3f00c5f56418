// The Express app from its dependencies; listening is the composition root's.
import express, { type Express } from 'express';
import { HoldfastError } from '../domain/operation-error.ts';
import type { ApiDependencies } from './dependencies.ts';
import { admitAtMost, MOST_AT_ONCE } from './middleware/admission.ts';
import { problemDetails } from './middleware/problem-details.ts';
import { healthRoute } from './routes/health.route.ts';
import { operationsRoute } from './routes/operations.route.ts';
import { providerEventsRoute } from './routes/provider-events.route.ts';

export function createApp(deps: ApiDependencies): Express {
  const app = express();
  app.disable('x-powered-by');
  // A replay is the same bytes, not a 304.
  app.disable('etag');
  app.use(healthRoute(deps));
  app.use(admitAtMost(MOST_AT_ONCE));
  app.use(providerEventsRoute(deps));
  app.use(operationsRoute(deps));
  app.use(() => {
    throw new HoldfastError('not_found', 'There is nothing at this path.');
  });
  app.use(problemDetails(deps.logger));
  return app;
}

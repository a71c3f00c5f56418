// The Express app from its dependencies; listening is the composition root's.
import express, { type Express } from 'express';
import { HoldfastError } from '../domain/operation-error.ts';
import type { ApiDependencies } from './dependencies.ts';
import { admitAtMost, MOST_AT_ONCE } from './middleware/admission.ts';
import { observeRequests } from './middleware/observe-requests.ts';
import { problemDetails } from './middleware/problem-details.ts';
import { apiKeysRoute } from './routes/api-keys.route.ts';
import { approvalsRoute } from './routes/approvals.route.ts';
import { auditChainRoute } from './routes/audit-chain.route.ts';
import { auditEventsRoute } from './routes/audit-events.route.ts';
import { cancelRoute } from './routes/cancel.route.ts';
import { documentationRoute } from './routes/documentation.route.ts';
import { grantsRoute } from './routes/grants.route.ts';
import { healthRoute } from './routes/health.route.ts';
import { kindsRoute } from './routes/kinds.route.ts';
import { operationListRoute } from './routes/operation-list.route.ts';
import { operationsRoute } from './routes/operations.route.ts';
import { operatorHoldsRoute } from './routes/operator-holds.route.ts';
import { operatorOperationsRoute } from './routes/operator-operations.route.ts';
import { operatorQueueRoute } from './routes/operator-queue.route.ts';
import { previewRoute } from './routes/preview.route.ts';
import { principalsRoute } from './routes/principals.route.ts';
import { providerEventsRoute } from './routes/provider-events.route.ts';

export function createApp(deps: ApiDependencies): Express {
  const app = express();
  app.disable('x-powered-by');
  // A replay is the same bytes, not a 304.
  app.disable('etag');
  app.use(healthRoute(deps));
  app.use(documentationRoute());
  app.use(observeRequests(deps));
  app.use(admitAtMost(MOST_AT_ONCE));
  // First, because nearly all requests are its: each router in front of it costs them something.
  app.use(operationsRoute(deps));
  app.use(providerEventsRoute(deps));
  app.use(operationListRoute(deps));
  app.use(previewRoute(deps));
  app.use(kindsRoute(deps));
  app.use(approvalsRoute(deps));
  app.use(auditEventsRoute(deps));
  app.use(auditChainRoute(deps));
  app.use(cancelRoute(deps));
  app.use(operatorQueueRoute(deps));
  app.use(operatorOperationsRoute(deps));
  app.use(operatorHoldsRoute(deps));
  app.use(grantsRoute(deps));
  app.use(principalsRoute(deps));
  app.use(apiKeysRoute(deps));
  app.use(() => {
    throw new HoldfastError('not_found', 'There is nothing at this path.');
  });
  app.use(problemDetails(deps.logger));
  return app;
}

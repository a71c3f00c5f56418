// Every route that the document shows. A test compares this with the routes of the app.
import { apiKeyContracts } from '../routes/api-keys.contract.ts';
import { approvalContracts } from '../routes/approvals.contract.ts';
import { auditChainContracts } from '../routes/audit-chain.contract.ts';
import { auditEventsContracts } from '../routes/audit-events.contract.ts';
import { documentationContracts } from '../routes/documentation.contract.ts';
import { grantContracts } from '../routes/grants.contract.ts';
import { healthContracts } from '../routes/health.contract.ts';
import { kindsContracts } from '../routes/kinds.contract.ts';
import { operationListContracts } from '../routes/operation-list.contract.ts';
import { operationsContracts } from '../routes/operations.contract.ts';
import { operatorHoldContracts } from '../routes/operator-holds.contract.ts';
import { operatorOperationContracts } from '../routes/operator-operations.contract.ts';
import { operatorQueueContracts } from '../routes/operator-queue.contract.ts';
import { previewContracts } from '../routes/preview.contract.ts';
import { principalContracts } from '../routes/principals.contract.ts';
import { providerEventsContracts } from '../routes/provider-events.contract.ts';
import type { RouteContract } from './contract.ts';

export const ALL_CONTRACTS: readonly RouteContract[] = [
  operationsContracts,
  previewContracts,
  operationListContracts,
  kindsContracts,
  approvalContracts,
  operatorQueueContracts,
  operatorOperationContracts,
  operatorHoldContracts,
  grantContracts,
  principalContracts,
  apiKeyContracts,
  auditEventsContracts,
  auditChainContracts,
  providerEventsContracts,
  healthContracts,
  documentationContracts,
].flatMap((routes): RouteContract[] => Object.values(routes));

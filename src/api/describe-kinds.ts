// The use case: what can be asked for, as the caller's account is served.
import { z } from 'zod';
import type { CapabilityCard } from '../domain/capability-card.ts';
import { connectionFor } from '../domain/connection.ts';
import { summarise, type SummaryReader } from '../domain/policy-summary.ts';
import type { OperationDefinition } from '../operations/define-operation.ts';
import { currentDefinition, KINDS } from '../operations/registry.ts';
import type { Principal } from '../store/principals.store.ts';
import type { ApiDependencies } from './dependencies.ts';
import type { Kind } from './routes/kinds.contract.ts';

type Served = Pick<ApiDependencies, 'connections' | 'cardOf' | 'policy'>;

/** Every kind in its current version. */
export function describeKinds(deps: Served, principal: Principal): Kind[] {
  return KINDS.flatMap((name) => {
    const definition = currentDefinition(name);
    return definition ? [described(deps, principal, definition)] : [];
  });
}

function described(deps: Served, principal: Principal, definition: OperationDefinition): Kind {
  const { kind, version, summary, onDuplicate, target, example } = definition;
  return {
    kind,
    version,
    summary,
    policy_summary: summarise(deps.policy(), kind, readerOf(principal)),
    on_duplicate: onDuplicate,
    acts_on: target?.kind ?? null,
    granted: principal.grants.includes(kind),
    schema: inputSchemaOf(definition),
    example,
    connection: servedBy(deps, principal.accountId, kind),
  };
}

function readerOf({ accountId, principalId, owner }: Principal): SummaryReader {
  return { account: accountId, agent: principalId, owner };
}

/** JSON Schema of what a client sends; what only code can say (an amount's precision) is not in it. */
function inputSchemaOf({ input }: OperationDefinition): Record<string, unknown> {
  return { ...z.toJSONSchema(input, { io: 'input', reused: 'inline' }) };
}

function servedBy({ connections, cardOf }: Served, account: string, kind: string) {
  const connection = connectionFor(connections, account, kind);
  if (!connection) return null;
  const { name, adapter } = connection;
  return { name, adapter, capability_card: cardView(cardOf(adapter)) };
}

/** The card without its functions. */
function cardView(card: CapabilityCard) {
  return {
    token: card.token,
    retention_ms: card.retentionMs,
    max_processing_ms: card.maxProcessingMs ?? null,
    visibility_lag_ms: card.visibilityLagMs,
    absence_is_authoritative: card.absenceIsAuthoritative,
    lookup: card.lookup,
    reversible: card.reversible,
  };
}

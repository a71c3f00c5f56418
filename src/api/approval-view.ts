// An approval as an approver reads it. The command stands in it raw, in the one member of that name; everything else is text to be read
// and goes through `shownText`, so that nothing in it is unseen or passes for something else.
import type { ApprovalRecord } from '../domain/approval-record.ts';
import { formatAmount, type Money } from '../domain/money.ts';
import { shownText } from '../domain/shown-text.ts';
import type { JsonValue } from '../domain/strict-json.ts';
import { definitionOf } from '../operations/registry.ts';
import type { ApprovalFile } from '../store/approval-list.store.ts';
import type { ApprovalView } from './routes/approvals.contract.ts';

type Operation = ApprovalFile['operation'];

/** The whole of it; times are as stored. */
export function approvalView(file: ApprovalFile): ApprovalView {
  const { approval, operation } = file;
  return {
    approval_id: approval.approvalId,
    operation_id: operation.operationId,
    operation_status: operation.status,
    fingerprint: approval.fingerprint,
    status: approval.status,
    round: approval.round,
    created_at: approval.createdAt,
    expires_at: approval.expiresAt,
    decided_at: approval.decidedAt,
    quorum: approval.quorum,
    votes: approval.votes.map((vote) => ({
      owner: shownText(vote.owner),
      principal_id: shownText(vote.principalId),
      decision: vote.decision,
      decided_at: vote.decidedAt,
      comment: vote.comment === null ? null : shownText(vote.comment),
    })),
    approvers: approversOf(approval),
    own_requests: approval.ownRequests,
    policy_version: approval.policyVersion,
    card: cardOf(file),
    command: operation.command,
  };
}

function approversOf({ approvers }: ApprovalRecord): ApprovalView['approvers'] {
  if (approvers === null) return null;
  const { principals, owners } = approvers;
  return { principals: principals.map(shownText), owners: owners.map(shownText) };
}

function cardOf({ approval, operation, requesterOwner }: ApprovalFile): ApprovalView['card'] {
  const text = cardTextOf(operation);
  const maybe = (value: string | null | undefined) => (value ? shownText(value) : null);
  return {
    title: shownText(text.title),
    operation_id: operation.operationId,
    kind: operation.kind,
    account_id: operation.accountId,
    connection: shownText(operation.connection),
    parameters: flatten(operation.command),
    money: text.money ? moneyView(text.money) : null,
    target: maybe(text.target),
    consequence: text.consequence,
    reversibility: text.reversibility,
    requester: {
      agent_id: shownText(operation.agentId),
      owner: shownText(requesterOwner),
      agent_run: maybe(operation.agentRun),
    },
    reasons: [shownText(approval.reason)],
    possible_duplicate_of: operation.possibleDuplicateOf,
    preconditions: approval.preconditions === null ? null : flatten(approval.preconditions),
    preconditions_read_at: approval.preconditionsReadAt,
    difference: approval.difference === null ? null : flatten(approval.difference),
  };
}

function cardTextOf({ kind, kindVersion, command, plan }: Operation) {
  const definition = definitionOf(kind, kindVersion);
  if (!definition) throw new Error(`${kind} ${kindVersion} is not registered`);
  return definition.card(command, plan.target);
}

function moneyView({ minor, digits, currency }: Money) {
  return { amount: formatAmount(minor, digits), currency };
}

type Shown = ApprovalView['card']['parameters'];

/** Every value with the path that leads to it, such as `items[0].sku`. */
function flatten(value: JsonValue, path = ''): Shown {
  if (Array.isArray(value)) {
    return value.flatMap((one: JsonValue, n) => flatten(one, `${path}[${n}]`));
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, one]: [string, JsonValue]) =>
      flatten(one, path === '' ? shownText(name) : `${path}.${shownText(name)}`),
    );
  }
  const text = String(value);
  const shown = shownText(text);
  return [{ name: path, value: shown, marked: shown !== text }];
}

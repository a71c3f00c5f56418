// A policy file's text as a policy, or every fault in it with its line and column. A strict part of YAML: plain mappings, lists and text.
import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type Document,
} from 'yaml';
import type { z } from 'zod';
import type { ApprovalTerms, Policy } from '../domain/policy.ts';
import { sha256Hex } from '../domain/sha256.ts';
import {
  policyFile,
  type ApprovalMembers,
  type PolicyDefaults,
  type PolicyFile,
} from './policy-file.schema.ts';

/** A file that can't be used. Its message has one line a fault: `file:line:column: what to write`. */
export class PolicyFileError extends Error {
  override readonly name = 'PolicyFileError';
}

interface Fault {
  readonly offset: number;
  readonly message: string;
}

type Path = readonly PropertyKey[];

/** Parses; `file` is how its faults name it. Throws a `PolicyFileError`. */
export function parsePolicy(text: string, file: string, defaults: PolicyDefaults): Policy {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    schema: 'failsafe',
    lineCounter: lines,
    prettyErrors: false,
    stringKeys: true,
  });
  const refuse = (faults: readonly Fault[]): never => {
    const sentences = faults
      .toSorted((one, other) => one.offset - other.offset)
      .map(({ offset, message }) => {
        const { line, col } = lines.linePos(offset);
        return `${file}:${line}:${col}: ${message}`;
      });
    throw new PolicyFileError([...new Set(sentences)].join('\n'));
  };
  const ofSyntax = syntaxFaults(document);
  if (ofSyntax.length > 0) refuse(ofSyntax);
  const parsed = policyFile.safeParse(document.toJS());
  if (!parsed.success) {
    return refuse(parsed.error.issues.flatMap((issue) => schemaFaults(document, issue)));
  }
  return policyOf(parsed.data, sha256Hex(text), defaults);
}

function syntaxFaults(document: Document.Parsed): Fault[] {
  const faults = [...document.errors, ...document.warnings].map(({ pos, message }) => ({
    offset: pos[0],
    message: message.split('\n')[0] ?? message,
  }));
  visit(document, {
    Alias(_, { range }) {
      faults.push({ offset: range?.[0] ?? 0, message: 'aliases are not read: write it out' });
    },
    Node(_, node) {
      if (isAlias(node)) return;
      const offset = node.range?.[0] ?? 0;
      if (node.anchor !== undefined) faults.push({ offset, message: 'remove the anchor' });
      if (node.tag !== undefined) faults.push({ offset, message: 'remove the tag' });
    },
  });
  return faults;
}

type Issue = z.core.$ZodIssue;

function schemaFaults(document: Document.Parsed, issue: Issue): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      offset: offsetOf(document, [...issue.path, key], 'key'),
      message: `there is no member ${key} here`,
    }));
  }
  return [{ offset: offsetOf(document, issue.path, 'value'), message: told(document, issue) }];
}

/** A member that isn't there is named; its place is that of the mapping it is missing in. */
function told(document: Document.Parsed, { path, message }: Issue): string {
  const last = path.at(-1);
  const isMissing = typeof last === 'string' && !document.hasIn([...path]);
  return isMissing ? `\`${last}\` is missing: ${message}` : message;
}

/** Where the deepest part of the path stands that there is. */
function offsetOf(document: Document.Parsed, path: Path, part: 'key' | 'value'): number {
  const last = path.at(-1);
  const parent = path.length === 0 ? undefined : document.getIn(path.slice(0, -1), true);
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isScalar(key) && key.value === last);
    const found = part === 'value' && isNode(pair?.value) ? pair.value : pair?.key;
    if (isNode(found)) return found.range?.[0] ?? 0;
  }
  const node = path.length === 0 ? document.contents : document.getIn(path, true);
  if (isNode(node)) return node.range?.[0] ?? 0;
  if (isCollection(parent)) return parent.range?.[0] ?? 0;
  return path.length === 0 ? 0 : offsetOf(document, path.slice(0, -1), 'value');
}

function policyOf(file: PolicyFile, version: string, defaults: PolicyDefaults): Policy {
  return {
    version,
    rules: file.rules.map(({ name, when, verdict, reason, approval }) => ({
      name,
      when: {
        kind: when.kind,
        account: when.account,
        agent: when.agent,
        owner: when.owner,
        currency: when.currency,
        environment: when.environment,
        role: when.role,
        target: when.target,
        destination: when.destination,
        amountAtLeast: when.amount_at_least,
        amountBelow: when.amount_below,
        possibleDuplicate: when.possible_duplicate && true,
      },
      verdict,
      reason: reason ?? `allowed by the rule ${name}`,
      approval: termsOf(approval, defaults),
    })),
    ceilings: file.ceilings.map(({ at_most_a_day: atMostADay, verdict, reason = '', ...rest }) => ({
      name: rest.name,
      kinds: rest.kinds,
      per: rest.per,
      atMostADay,
      verdict,
      reason,
      approval: termsOf(rest.approval, defaults),
    })),
    unspoken: termsOf(undefined, defaults),
  };
}

function termsOf(members: ApprovalMembers | undefined, defaults: PolicyDefaults): ApprovalTerms {
  const approvers = members?.approvers;
  return {
    quorum: members?.quorum ?? 1,
    ttlMs: members?.ttl ?? defaults.approvalTtlMs,
    approvers: approvers
      ? { principals: approvers.principals ?? [], owners: approvers.owners ?? [] }
      : null,
    ownRequests: members?.own_requests ?? false,
  };
}

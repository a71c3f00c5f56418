// The members of a policy file. Every scalar comes as the text that stands in the file: no amount is read as a double, and `no` is no false.
import { z } from 'zod';
import { normaliseCurrency, parseMoney, type Money } from '../domain/money.ts';
import { VERDICTS, type Amounts } from '../domain/policy.ts';

/** What a rule that says nothing about it asks for; the installation says how long. */
export interface PolicyDefaults {
  readonly approvalTtlMs: number;
}

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 24 * 3_600_000 } as const;
/** Nobody waits longer, and sums of times stay dates. */
const LONGEST_TTL_MS = 366 * UNIT_MS.d;

const text = (what: string) =>
  z.string({ error: `write ${what}` }).regex(/^\S(.*\S)?$/s, `write ${what}`);

const name = z
  .string({ error: 'write a name such as large-payments' })
  .regex(/^[a-z0-9][a-z0-9_-]{0,63}$/, 'write a name of a-z, 0-9, _ and -, such as large-payments');

const reason = text('one sentence for those who read the decision').max(
  300,
  'write at most 300 characters',
);

/** One name, or a list of which any will do. */
const anyOf = (what: string) =>
  z.preprocess(
    (value) => (typeof value === 'string' ? [value] : value),
    z
      .array(text(what), { error: `write ${what}, or a list of them` })
      .min(1, `write ${what}, or leave the member out`),
  );

const currency = z
  .string()
  .refine((code) => normaliseCurrency(code) === code, 'write an ISO 4217 code such as USD');

const amounts = z
  .record(z.string(), z.string({ error: 'write a decimal such as 1000.00' }), {
    error: 'write an amount for each currency, such as { USD: 1000.00, JPY: 150000 }',
  })
  .transform((value, context): Amounts => {
    const entries: [string, Money][] = [];
    for (const [code, amount] of Object.entries(value)) {
      const parsed = normaliseCurrency(code) === code ? parseMoney(amount, code) : undefined;
      if (parsed?.ok) entries.push([code, parsed.money]);
      else {
        const message = parsed ? parsed.detail : 'write an ISO 4217 code such as USD';
        context.addIssue({ code: 'custom', path: [code], message });
      }
    }
    if (Object.keys(value).length === 0) {
      context.addIssue({ code: 'custom', message: 'name at least one currency' });
    }
    return new Map(entries);
  });

const duration = z
  .string({ error: 'write a time such as 30m, 24h or 7d' })
  .regex(/^[1-9][0-9]{0,5}[smhd]$/, 'write a time such as 30m, 24h or 7d')
  .transform((value) => Number(value.slice(0, -1)) * UNIT_MS[value.at(-1) as keyof typeof UNIT_MS])
  .refine((ms) => ms <= LONGEST_TTL_MS, 'write at most 366d');

const yes = z
  .string({ error: 'write true or false' })
  .regex(/^(true|false)$/, 'write true or false')
  .transform((value) => value === 'true');

const conditions = z.strictObject(
  {
    kind: anyOf('the name of a kind').optional(),
    account: anyOf('an account').optional(),
    agent: anyOf('the principal id of an agent').optional(),
    owner: anyOf('an owner').optional(),
    currency: z
      .preprocess(
        (value) => (typeof value === 'string' ? [value] : value),
        z.array(currency).min(1),
      )
      .optional(),
    environment: anyOf('an environment').optional(),
    role: anyOf('a role').optional(),
    target: anyOf('a target').optional(),
    destination: anyOf('a destination').optional(),
    amount_at_least: amounts.optional(),
    amount_below: amounts.optional(),
    possible_duplicate: z.literal('true', { error: 'write true, or leave it out' }).optional(),
  },
  { error: 'write conditions such as { kind: payment }; {} speaks of everything' },
);

const approval = z
  .strictObject({
    quorum: z
      .string({ error: 'write how many people, such as 2' })
      .regex(/^[1-9][0-9]?$/, 'write a number of people from 1 to 99')
      .transform(Number)
      .optional(),
    ttl: duration.optional(),
    approvers: z
      .strictObject({
        principals: anyOf('the principal id of an approver').optional(),
        owners: anyOf('an owner').optional(),
      })
      .optional(),
    own_requests: yes.optional(),
  })
  .superRefine(({ quorum = 1, approvers }, context) => {
    if (!approvers) return;
    const named = (approvers.principals?.length ?? 0) + (approvers.owners?.length ?? 0);
    if (named >= quorum) return;
    const message = `${named} named, ${quorum} must agree: name more, or lower the quorum`;
    context.addIssue({ code: 'custom', path: ['approvers'], message });
  });

const anyVerdict = z.enum(VERDICTS, { error: 'write allow, require_approval or deny' });

interface Consequence {
  readonly verdict: string;
  readonly reason?: string | undefined;
  readonly approval?: unknown;
}

function isWhole(
  { verdict, reason: said, approval: asked }: Consequence,
  context: z.RefinementCtx,
) {
  if (asked !== undefined && verdict !== 'require_approval') {
    const message = 'only require_approval asks for approval: remove it, or change `verdict`';
    context.addIssue({ code: 'custom', path: ['approval'], message });
  }
  if (verdict !== 'allow' && said === undefined) {
    const message = 'add a `reason`: agents and approvers read it';
    context.addIssue({ code: 'custom', path: ['verdict'], message });
  }
}

const rule = z
  .strictObject(
    {
      name,
      when: conditions,
      verdict: anyVerdict,
      reason: reason.optional(),
      approval: approval.optional(),
    },
    { error: 'write a rule with `name`, `when` and `verdict`' },
  )
  .superRefine(isWhole);

const ceiling = z
  .strictObject(
    {
      name,
      kinds: anyOf('the name of a kind'),
      per: z.enum(['agent', 'destination', 'account'], {
        error: 'write agent, destination or account',
      }),
      at_most_a_day: amounts,
      verdict: z.enum(['require_approval', 'deny'], { error: 'write require_approval or deny' }),
      reason: reason.optional(),
      approval: approval.optional(),
    },
    { error: 'write a ceiling with `name`, `kinds`, `per`, `at_most_a_day` and `verdict`' },
  )
  .superRefine(isWhole);

/** A file as it is written, before it becomes a `Policy`. */
export const policyFile = z
  .strictObject(
    {
      policy_format: z.literal('1', { error: 'write policy_format: 1' }),
      rules: z.array(rule, { error: 'write a list of rules' }),
      ceilings: z.array(ceiling, { error: 'write a list of ceilings' }).default([]),
    },
    { error: 'write a mapping with `policy_format` and `rules`' },
  )
  .superRefine((file, context) => {
    const seen = new Set<string>();
    for (const part of ['rules', 'ceilings'] as const) {
      for (const [n, one] of file[part].entries()) {
        if (seen.has(one.name)) {
          const message = `the name ${one.name} is taken by an earlier one`;
          context.addIssue({ code: 'custom', path: [part, n, 'name'], message });
        }
        seen.add(one.name);
      }
    }
  });

export type PolicyFile = z.output<typeof policyFile>;
export type ApprovalMembers = z.output<typeof approval>;

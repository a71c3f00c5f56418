// What the provider knows of each kind: one row. A kind without a row is taken as well, with any object for a body.
//
// Bodies are checked for their form only. Whether a refund exceeds its payment, a payment exists or a customer is known is not
// checked, on purpose: a poor provider lets everything through, and whoever uses it must not lean on it.
import { randomBytes } from 'node:crypto';
import { z } from 'zod';

interface Kind {
  readonly prefix: string;
  readonly body: z.ZodType<Record<string, unknown>>;
  /** The status of a fresh object, for kinds whose objects have one that people change. */
  readonly status?: string;
}

const text = z.string().min(1);
const money = {
  amount: z.string().regex(/^\d{1,30}$/, 'a text of digits, in minor units'),
  currency: z.string().regex(/^[A-Z]{3}$/, 'three capital letters'),
};

const TICKET_STATUS = 'open';

const KINDS: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  [
    'payment',
    {
      prefix: 'pay',
      body: z.looseObject({
        ...money,
        customer: text,
        invoice: text,
        capture: z.enum(['automatic', 'manual']),
        memo: z.string().optional(),
      }),
    },
  ],
  ['payment_capture', { prefix: 'cap', body: z.looseObject({ payment: text, ...money }) }],
  ['refund', { prefix: 'ref', body: z.looseObject({ payment: text, ...money, reason: text }) }],
  [
    'ticket',
    {
      prefix: 'tkt',
      body: z.looseObject({
        project: text,
        title: text,
        description: z.string().optional(),
        priority: text,
        assignee: text.optional(),
        source_event: text.optional(),
      }),
      status: TICKET_STATUS,
    },
  ],
]);

const AnyObject = z.record(z.string(), z.unknown());

/** The form of a write's body. */
export const bodyOfKind = (kind: string): Kind['body'] => KINDS.get(kind)?.body ?? AnyObject;

/** The status that a fresh object of this kind shows; undefined where such objects have none. */
export const firstStatusOf = (kind: string): string | undefined => KINDS.get(kind)?.status;

/** An id that no object has yet. */
export function newId(kind: string): string {
  return `${KINDS.get(kind)?.prefix ?? kind.slice(0, 3)}_${randomBytes(12).toString('hex')}`;
}

/** Kinds of objects that may have been there before anything was written. */
export const STANDING_KINDS = ['customer', 'ticket'] as const;
export type StandingKind = (typeof STANDING_KINDS)[number];

/** What is there from the first start on. */
export const SEEDS: readonly { readonly kind: StandingKind; readonly id: string }[] = [
  { kind: 'customer', id: 'cus_1' },
  { kind: 'ticket', id: 'T-1' },
  { kind: 'ticket', id: 'T-APPROVAL' },
];

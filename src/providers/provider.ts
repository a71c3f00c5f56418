// The port: what the engine asks of every provider. An adapter maps a kind's command to one request and answers to outcomes.
// It keeps no state, never retries, and never throws for what a provider did: anything unexpected is unknown.
import type { CapabilityCard } from '../domain/capability-card.ts';
import type { LookupAnswer, WriteOutcome } from '../domain/outcome.ts';
import type { PreconditionAnswer } from '../domain/precondition.ts';
import type { ProviderEvent } from '../domain/provider-event.ts';
import type { JsonObject } from '../domain/strict-json.ts';
import type { FrozenTarget } from '../domain/execution-plan.ts';

/** What every contact with the provider needs; the credential is resolved by the worker and never stored. */
export interface ProviderContact<Body extends string | null = string> {
  readonly baseUrl: string;
  readonly credential: string;
  readonly operationId: string;
  readonly kind: string;
  /** The provider token, the same for all attempts of an operation. */
  readonly token: string;
  /**
   * The stored bytes of the first intent: what is sent, and what a lookup's finding is compared with. Null in lookups of an operation
   * whose bytes are gone: then what bears its token matches, since nothing can be settled by it without a person.
   */
  readonly requestBody: Body;
  /** W3C trace context of the request that caused this, where there was one. */
  readonly traceparent: string | null;
  /** Milliseconds for the whole exchange. */
  readonly deadlineMs: number;
}

/** An event as it came, with what is needed to check its signature. */
export interface SignedEvent {
  readonly body: string;
  readonly header: (name: string) => string | undefined;
  readonly secret: string;
  readonly nowMs: number;
}

/** How a provider tells things by itself. */
export interface EventScheme {
  /** The event, or undefined where signature or content can't be trusted. */
  read(signed: SignedEvent): ProviderEvent | undefined;
  /** True where the object in the event has the parameters that were sent, or the bytes to compare with are gone. */
  matches(body: string, kind: string, requestBody: string | null): boolean;
}

/** What an adapter looks at before the first write of some kinds. */
export interface PreconditionScheme {
  readonly kinds: readonly string[];
  /** Asks for the state of what the write acts on; changes nothing. */
  read(contact: ProviderContact): Promise<PreconditionAnswer>;
}

export interface ProviderAdapter {
  readonly name: string;
  readonly card: CapabilityCard;
  /** Absent where the provider sends no webhooks. */
  readonly events?: EventScheme;
  /** Absent where no write depends on anything that the provider shows. */
  readonly preconditions?: PreconditionScheme;
  /** The bytes to send for a command; stored with the intent. Throws for a kind that the adapter doesn't serve. */
  requestFor(kind: string, command: JsonObject, target: FrozenTarget | null): string;
  /** Sends once. */
  write(contact: ProviderContact): Promise<WriteOutcome>;
  /** Asks what became of the token; changes nothing. */
  lookUp(contact: ProviderContact<string | null>): Promise<LookupAnswer>;
}

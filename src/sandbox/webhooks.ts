// Sends events to the receivers of the provider's customers, signed.
//
//   sandbox-signature: t=<unix seconds>,v1=<lower-case hex HMAC-SHA256(secret, "<t>.<raw body>")>
import { createHmac } from 'node:crypto';
import type { ProviderEvent } from './events.ts';
import { accountOf } from './records.ts';

/** Where the events of one account go. */
export interface WebhookEndpoint {
  /** Whose: the credential that the account writes with. */
  readonly credential: string;
  readonly url: string;
  readonly secret: string;
}

const DELIVERY_TIMEOUT_MS = 5_000;
/** What is told of a receiver that gave no answer. */
const NO_ANSWER = 503;

/** The endpoints, and deliveries to them. Nothing is sent unless it is asked for, so that tests decide when an event comes. */
export class Webhooks {
  readonly #byAccount: ReadonlyMap<string, WebhookEndpoint>;
  readonly #stopped: AbortSignal;

  constructor(endpoints: readonly WebhookEndpoint[], stopped: AbortSignal) {
    this.#byAccount = new Map(endpoints.map((one) => [accountOf(one.credential), one]));
    this.#stopped = stopped;
  }

  /** Whether there is anyone to tell. */
  get offered(): boolean {
    return this.#byAccount.size > 0;
  }

  /** The endpoint of an account. */
  of(account: string): WebhookEndpoint | undefined {
    return this.#byAccount.get(account);
  }

  /** The endpoint that events about nobody's object go to. */
  get first(): WebhookEndpoint | undefined {
    return this.#byAccount.values().next().value;
  }

  /** Sends an event once and returns what the receiver answered; never throws. */
  async deliver({ url, secret }: WebhookEndpoint, event: ProviderEvent): Promise<number> {
    const body = JSON.stringify(event);
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'sandbox-signature': signatureOf(secret, body, Math.floor(Date.now() / 1_000)),
        },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([this.#stopped, AbortSignal.timeout(DELIVERY_TIMEOUT_MS)]),
      });
      await answer.body?.cancel();
      return answer.status;
    } catch {
      return NO_ANSWER;
    }
  }
}

function signatureOf(secret: string, body: string, seconds: number): string {
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${digest}`;
}

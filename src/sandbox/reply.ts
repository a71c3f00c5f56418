// Sends answers, and loses them in the ways that networks and providers do.
import type { Request, Response } from 'express';
import type { Answer } from './records.ts';

const GATEWAY_TIMEOUT_PAGE =
  '<html>\r\n<head><title>504 Gateway Time-out</title></head>\r\n<body>\r\n<center><h1>504 Gateway Time-out</h1></center>\r\n</body>\r\n</html>\r\n';

/** The answering end of one call. Where the caller has gone, answers go nowhere. */
export class Reply {
  readonly #socket: Request['socket'];
  readonly #res: Response;
  readonly #holdMs: number;

  /** `holdMs`: how long a call that gets no answer is held open. */
  constructor(req: Request, res: Response, holdMs: number) {
    this.#socket = req.socket;
    this.#res = res;
    this.#holdMs = holdMs;
  }

  /** Answers as usual. */
  send(answer: Answer): void {
    const text = answer.body === undefined ? '' : JSON.stringify(answer.body);
    this.#sendText(answer, text, 'application/json; charset=utf-8');
  }

  /** What a proxy says in the provider's place. */
  gatewayTimeout(): void {
    this.#sendText({ status: 504 }, GATEWAY_TIMEOUT_PAGE, 'text/html');
  }

  /** Says nothing until the caller goes, or for `holdMs`, and then closes the connection. */
  silence(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#res.closed) return resolve();
      const timer = setTimeout(() => this.drop(), this.#holdMs);
      this.#res.once('close', () => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** Closes the connection in good order, with no answer. */
  drop(): void {
    this.#socket.destroy();
  }

  /** Ends the connection with a TCP reset. */
  reset(): void {
    this.#socket.resetAndDestroy();
  }

  /** Announces the whole body, sends half of it and closes. */
  truncate(answer: Answer): void {
    if (this.#res.closed) return;
    const bytes = Buffer.from(JSON.stringify(answer.body ?? {}));
    this.#res.writeHead(answer.status, {
      ...answer.headers,
      'Content-Type': 'application/json; charset=utf-8',
      'Content-Length': bytes.length,
    });
    this.#res.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () =>
      this.#socket.destroySoon(),
    );
  }

  #sendText(answer: Answer, text: string, type: string): void {
    if (this.#res.closed) return;
    const described =
      text === ''
        ? answer.headers
        : { ...answer.headers, 'Content-Type': type, 'Content-Length': Buffer.byteLength(text) };
    this.#res.writeHead(answer.status, described);
    this.#res.end(text);
  }
}

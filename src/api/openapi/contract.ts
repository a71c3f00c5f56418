// How a route is declared: what it takes, answers and refuses. The schemas are those that validate, the document is generated from
// the declarations, and a test compares them with the routes of the app.
import type { z } from 'zod';
import type { ProblemCode } from '../../domain/error-catalogue.ts';
import type { JsonObject } from '../../domain/strict-json.ts';
import type { Role } from '../../store/principals.store.ts';

export interface Answer {
  readonly description: string;
  /** A JSON body; without it the answer has none, or one of another media type. */
  readonly schema?: z.ZodType;
  readonly mediaType?: string;
  readonly headers?: readonly ResponseHeader[];
  readonly example?: JsonObject;
}

export type ResponseHeader =
  'Operation-Disposition' | 'Location' | 'Retry-After' | 'Idempotent-Replayed';

export interface RouteContract {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** As OpenAPI writes it. `{kind}` stands for one path per kind, because each kind has its own body. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Who may call it; `public` needs no credential, `provider` a signature. */
  readonly roles: readonly Role[] | 'public' | 'provider';
  readonly pathParameters?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly headers?: z.ZodObject;
  /** `command`: the input of the kind in the path. */
  readonly body?: 'command' | { readonly schema: z.ZodType; readonly example: JsonObject };
  readonly answers: Readonly<Record<string, Answer>>;
  /** Refusals beyond those that every route of its sort has; see `problemCodesOf`. */
  readonly problems: readonly ProblemCode[];
}

/** Declares routes; exists for the types. */
export function contracts<const Routes extends Readonly<Record<string, RouteContract>>>(
  routes: Routes,
): Routes {
  return routes;
}

const OF_EVERY_CREDENTIAL: readonly ProblemCode[] = [
  'unauthenticated',
  'forbidden',
  'rate_limited',
];
const OF_EVERY_BODY: readonly ProblemCode[] = [
  'invalid_json',
  'payload_too_large',
  'unsupported_media_type',
];

const OF_EVERY_CALL: readonly ProblemCode[] = ['invalid_parameter', 'unavailable'];

/** Every code that a route may be refused with. */
export function problemCodesOf(contract: RouteContract): ProblemCode[] {
  const { roles, body, problems } = contract;
  return [
    ...new Set<ProblemCode>([
      ...(roles === 'public' ? [] : OF_EVERY_CALL),
      ...(typeof roles === 'string' ? [] : OF_EVERY_CREDENTIAL),
      ...(body === undefined ? [] : OF_EVERY_BODY),
      ...problems,
      'internal_error',
    ]),
  ];
}

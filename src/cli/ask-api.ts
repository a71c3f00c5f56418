// Requests of the command line to the API.
import { CliError, type CliContext } from './context.ts';

/** The body of a 200; everything else is a `CliError` with what the API said. */
export async function askApi({ url, apiKey }: CliContext, path: string): Promise<string> {
  if (!apiKey) throw new CliError('HOLDFAST_API_KEY is not set: an API key of this account.');
  const answer = await fetch(`${url}${path}`, {
    headers: { authorization: `Bearer ${apiKey}` },
  }).catch((error: unknown) => {
    throw new CliError(`${url} does not answer (HOLDFAST_URL): ${reasonOf(error)}`);
  });
  const text = await answer.text();
  if (answer.ok) return text;
  throw new CliError(`GET ${path}: ${answer.status} ${detailOf(text)}`);
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}

/** The sentence of a problem document. */
function detailOf(text: string): string {
  try {
    const { code, detail } = JSON.parse(text) as { code?: string; detail?: string };
    return `${code ?? ''}: ${detail ?? ''}`;
  } catch {
    return text.slice(0, 200);
  }
}

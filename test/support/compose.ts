// docker-compose.yml and what belongs to it, read as data: no container engine is needed to find most of what can be wrong.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';

export interface Service {
  readonly image?: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly restart?: string;
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, unknown>>;
  readonly volumes: Readonly<Record<string, unknown>>;
}

const repository = new URL('../../', import.meta.url);

/** A file of the repository. */
export const textOf = (path: string): string => readFileSync(new URL(path, repository), 'utf8');

/** A YAML file of the repository; unknown aliases and duplicate keys throw. */
export const yamlOf = (path: string): unknown => parse(textOf(path), { merge: true });

/** The assignments of an env file. */
export function assignmentsIn(text: string): Readonly<Record<string, string>> {
  const lines = text.split('\n').filter((line) => /^[A-Z]/.test(line));
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)] as const;
    }),
  );
}

/** Names in `${NAME}` and `${NAME:?message}`. */
export const variablesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => name)),
];

/** The environment of a service as its process sees it, with the variables filled in. */
export function environmentOf(
  service: Service,
  variables: Readonly<Record<string, string>>,
): Record<string, string> {
  const filled = Object.entries(service.environment ?? {}).map(([name, value]) => {
    const text = String(value).replaceAll(/\$\{(\w+)[^}]*\}/g, (_, key: string) => {
      return variables[key] ?? '';
    });
    return [name, text] as const;
  });
  return Object.fromEntries(filled);
}

// The search attributes in the namespace. Set-up registers them; a Temporal of one's own may lack them, or not let us.
import type { Client } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../domain/search-attributes.ts';
import type { Logger } from '../observability/logger.ts';
import { engineAnswers } from './connection.ts';

/** The numbers of `temporal.api.enums.v1.IndexedValueType`. */
const INDEXED_VALUE_TYPE = { Keyword: 2, Datetime: 6 } as const;

const WANTED = Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => ({ name, type }));

/**
 * Registers what the namespace lacks. Where that can't be, the log says what to run: until then runs are started without attributes,
 * and only that they can be searched is missing. Never rejects, and says nothing where the engine is away.
 */
export async function provideSearchAttributes(client: Client, logger: Logger): Promise<void> {
  if (!(await engineAnswers(client))) return;
  try {
    await registerMissing(client);
  } catch (error) {
    logger.warn({ err: error, run: commandFor(client) }, 'search attributes are not registered');
  }
}

async function registerMissing({ connection, options: { namespace } }: Client): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = WANTED.filter(({ name }) => customAttributes[name] === undefined);
  const taken = WANTED.filter(({ name, type }) => {
    const found: number | undefined = customAttributes[name];
    return found !== undefined && found !== INDEXED_VALUE_TYPE[type];
  });
  if (taken.length > 0) {
    throw new Error(`of another type: ${taken.map(({ name }) => name).join(', ')}`);
  }
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(
    missing.map(({ name, type }) => [name, INDEXED_VALUE_TYPE[type]]),
  );
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
}

function commandFor({ options: { namespace } }: Client): string {
  const each = WANTED.map(({ name, type }) => `--name ${name} --type ${type}`).join(' ');
  return `temporal operator search-attribute create --namespace ${namespace} ${each}`;
}

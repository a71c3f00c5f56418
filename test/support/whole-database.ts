// Every value of every table, to search for what must not be there: a table that is added later is searched as well.
import type { Queryable } from '../../src/store/pool.ts';

/** Where the words stand: `table.column: word`, sorted. Numbers, times and JSON are searched as text. */
export async function placesOf(db: Queryable, words: readonly string[]): Promise<string[]> {
  const tables = await db.query<{ name: string }>(
    `select table_name as name from information_schema.tables
     where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const found = new Set<string>();
  for (const { name } of tables.rows) {
    const { rows } = await db.query<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from ${name} t`,
    );
    for (const [column, value] of rows.flatMap(({ row }) => Object.entries(row))) {
      const text = JSON.stringify(value);
      for (const word of words) if (text.includes(word)) found.add(`${name}.${column}: ${word}`);
    }
  }
  return [...found].toSorted();
}

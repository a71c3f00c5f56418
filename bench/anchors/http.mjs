// Anchor: Express that does one thing with Postgres per request, an insert or an indexed select, on a pool of the same size.
import { once } from 'node:events';
import express from 'express';
import { Pool } from 'pg';

const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: 20 });
await pool.query(
  'create table if not exists bench_anchor (id text primary key, body jsonb not null)',
);
const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.post('/insert', express.json(), async (request, response) => {
  await pool.query('insert into bench_anchor (id, body) values ($1, $2)', [
    request.get('idempotency-key'),
    request.body,
  ]);
  response.status(202).json({ accepted: true });
});
app.post('/select', express.json(), async (request, response) => {
  const { rows } = await pool.query('select body from bench_anchor where id = $1', [
    request.get('idempotency-key'),
  ]);
  response.json(rows[0].body);
});
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
process.stdout.write(`ready http://127.0.0.1:${server.address().port}\n`);
process.on('SIGTERM', () => process.exit(0));

// A peer on Koa and pg alone: one row for each payment, overwritten when it is paid.
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { serve } from './common.mjs';

const pool = new pg.Pool({ connectionString: process.argv[2], max: 10 });
await pool.query(`
  create table plain_payments (
    id text primary key, merchant text not null, reference text not null, amount numeric not null,
    callback_url text not null, request json not null, status text not null, result json, updated_at timestamptz not null,
    unique (merchant, reference))`);

serve({
  async request(body) {
    const { rows } = await pool.query({
      name: 'request',
      text: `insert into plain_payments values ($1, $2, $3, $4, $5, $6, 'requested', null, now())
        on conflict (merchant, reference) do update set updated_at = plain_payments.updated_at returning id`,
      values: [
        randomUUID(),
        body.merchant_code,
        body.trans_id,
        body.amount,
        body.callback_url,
        JSON.stringify(body),
      ],
    });
    return rows[0].id;
  },
  async succeed(id, result) {
    const { rows } = await pool.query({
      name: 'succeed',
      text: `update plain_payments set status = 'succeeded', result = $2, updated_at = now()
        where id = $1 returning id, reference, amount, callback_url as "callbackUrl"`,
      values: [id, JSON.stringify(result)],
    });
    return rows[0];
  },
});

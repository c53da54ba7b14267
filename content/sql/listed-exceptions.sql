-- All that waits for staff, from each source with the same columns. The id begins with the source and identifies the
-- exception. The owner is the merchant that it is about and nobody else: not of what others reported or what names two
-- payments, which may be those of two merchants.
select source || '/' || transaction_id || '/' || no as id, kind, merchant_code, merchant_code as owner, at, amount_sen, resolution,
  resolved_at, null as file, transaction_id
from payments.exceptions
union all
select 'unmatched/' || id, 'unmatched', null, null, at, null, resolution, resolved_at, null, null
from unmatched.unmatched
union all
-- From the text of the state, which may hold U+0000. A quotation mark that others sent has a backslash before it.
select 'difference/' || id, 'difference', nullif(merchant_code, ''), null, at, amount_sen, resolution, resolved_at,
  substring(state::text from '"sha256":"(\w+)"'), transaction_id
from reconciliation.discrepancies
union all
select 'shared/' || id, kind, merchant_code, null, at, amount_sen, resolution, resolved_at, null, null
from journal.shared_numbers
union all
-- Without U+0000, which a text of Postgres cannot contain.
select 'parked/' || stream, 'parked', null, null, min("parkedAt"), null, null, null, null, null
from checkpoints, json_to_recordset(replace(parked::text, '\u0000', '')::json) as it (stream text, "parkedAt" timestamptz)
group by stream

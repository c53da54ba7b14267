-- Gives the mark as it was before, which stays: rows that were made under another key are rolled back.
with written as (
  {insert}
  on conflict (transaction_id) do update set tokens = excluded.tokens where payers.transaction_id <> ''
)
select tokens from payers where transaction_id = ''

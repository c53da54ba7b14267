-- It was recorded on that day or later: the index of the account begins with this.
select reference from journal.postings join journal.books using (transaction_id)
where account = 'bank' and at >= :start and value_at = :start and kind = :kind
  and debit_sen + credit_sen = :totalSen and transaction_id <> :id and state ->> 'reversed' is null
limit 1

-- Which other payout has each charge; the one that is named first, if several have.
select distinct on (line) line, reference
from {given} join journal.paid_out using (charge) join journal.books on transaction_id = settlement_id
where settlement_id <> ?
order by line, reference

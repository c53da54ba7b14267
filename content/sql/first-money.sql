-- The first day of money that came to one of the accounts, or to any if none ever came to these.
select coalesce(min(opened_on) filter (where account = any(:accounts)), min(opened_on))::text as day
from journal.daily_sums
where opened_on < 'infinity'

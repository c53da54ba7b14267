select kind, count(*) filter (where state = 'due') as due,
  count(*) filter (where state = 'abandoned') as "givenUp",
  greatest(0, extract(epoch from :now - min(due_at) filter (where state = 'due')))::float8 as overdue
from reactor_deliveries.deliveries where state in ('due', 'abandoned') group by kind

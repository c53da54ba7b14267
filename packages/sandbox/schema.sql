-- The gateway: orders, results, and posts to the service. Every write is on disk before it returns.
pragma journal_mode = wal;
pragma synchronous = full;
create table if not exists orders (
  orderNo text primary key, merchantCode text not null, transId text not null, amountSen integer not null,
  paymentMode text not null, bankCode text not null, description text not null, buyerName text not null,
  buyerEmail text not null, responseUrl text not null, paymentTransId text not null unique,
  state text not null, createdAtMs integer not null
) strict;
create index if not exists ordersByTransaction on orders (transId);
create table if not exists transaksiIds (transId text primary key, transaksiId text not null) strict;
create index if not exists transaksiIdsByValue on transaksiIds (transaksiId);
create table if not exists results (
  id integer primary key, orderNo text not null references orders, status text not null,
  amountSen integer not null, paymentTransId text not null, decidedAtMs integer not null,
  byBrowser integer not null, serverPost text not null, notBeforeMs integer not null,
  unique (paymentTransId, status)
) strict;
create index if not exists resultsByOrder on results (orderNo);
create table if not exists posts (
  resultId integer not null references results, atMs integer not null, answer text not null
) strict;
create index if not exists postsByResult on posts (resultId);

-- The land registry: what it received and answered, and how it is set to behave.
create table if not exists registrations (
  id integer primary key, atMs integer not null, verdict text not null, resitNo text not null, fpxNo text not null,
  idHakmilik text not null, kodCaw text not null, accountNo text not null, amaun text not null,
  paymentDateTime text not null, paymentType text not null, transId text not null, dimasuk text not null
) strict;
create unique index if not exists registered on registrations (resitNo, fpxNo)
  where verdict in ('accepted', 'answer-lost');
create table if not exists behaviour (
  id integer primary key check (id = 1), mode text not null, failingTitleId text not null
) strict;
insert or ignore into behaviour values (1, 'accept', '');

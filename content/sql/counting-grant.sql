-- `ledger http` counts answers too, and writes nothing else here. To be run where the search path leads to the table.
do $$ declare http text := quote_ident(current_database() || '_http'); begin
  if to_regclass('requeries') is not null and to_regrole(http) is not null then
    execute 'grant update (counted, counted_status, counted_at, wake_at) on requeries to ' || http;
  end if;
end $$

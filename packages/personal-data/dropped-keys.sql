-- If the schema of keys is missing although a table has rows that were made with keys, somebody has dropped it. If it were
-- made anew, what the lost keys have sealed would count as lost for good.
do $$ begin
  if to_regnamespace('personal_data') is null and to_regclass('{madeWithKeys}') is not null then
    if exists (select from {madeWithKeys}) then
      raise 'the schema personal_data is missing: restore it from its backup' using errcode = 'config_file_error';
    end if;
  end if;
end $$;

/** The advisory locks of leaders, which belong to a session of Postgres. */
import type { Knex } from 'knex';
import type { Candidacy } from './leader-shares.ts';
import type { Client } from './pool.ts';

/** Held by the process that leads `name`. Earlier releases use the same key. */
const leadKey = `hashtextextended('projection ' || name, 0)`;
/** Shared by all who stand by, so that others see them. */
const standByKey = `hashtextextended('stands by for ' || name, 0)`;

/** The process that asks; any other is named by the id of its session. */
export const ownProcess = 'own';

/** An advisory lock shows its key in two halves. What else a process leads counts too, under the key of its lock. */
const findCandidacies = `
  select coalesce(name, classid || ' ' || objid) as name, coalesce(nullif(pid, pg_backend_pid())::text, '${ownProcess}') as process,
    bool_or(mode = 'ExclusiveLock') as leads
  from pg_locks
    left join (
      select name, key from unnest($1::text[]) as name
        cross join lateral (values (${leadKey}), (${standByKey})) as keys (key)
    ) as keys on classid = (key >> 32 & 4294967295)::oid and objid = (key & 4294967295)::oid
  where locktype = 'advisory' and granted and objsubid = 1
    and database = (select oid from pg_database where datname = current_database())
  group by 1, pid
  having count(name) > 0 or bool_or(mode = 'ExclusiveLock')`;

/** The candidacies for these names. Rejects within a few seconds when Postgres is down. */
export async function candidaciesFor(db: Knex, names: readonly string[]): Promise<Candidacy[]> {
  const { rows } = await db.raw<{ rows: Candidacy[] }>(findCandidacies.replace('$1', '?'), [[...names]]);
  return rows.filter(({ name }) => names.includes(name));
}

/** Connects. All reject when that fails, or when the session is lost; those that take names resolve to some of them. */
export function openLeadLocks(client: Client) {
  // One question at a time.
  let last: Promise<unknown> = client.connect();

  async function ask<Row extends { name: string }>(sql: string, names: readonly string[]): Promise<Row[]> {
    const answer = last.then(() => client.query<Row>(sql, [names]));
    last = answer.catch(() => {}); // whoever asked is told
    return (await answer).rows;
  }

  const locking = (call: string) => async (names: readonly string[]) => {
    const sql = `select name from unnest($1::text[]) as name where ${call}::text <> 'false'`;
    return (await ask(sql, names)).map(({ name }) => name);
  };

  return {
    /** The names that nobody leads, and that this session leads from now on. */
    take: locking(`pg_try_advisory_lock(${leadKey})`),
    giveBack: locking(`pg_advisory_unlock(${leadKey})`),
    showStandBy: locking(`pg_advisory_lock_shared(${standByKey})`),
    hideStandBy: locking(`pg_advisory_unlock_shared(${standByKey})`),
    candidaciesFor: (names: readonly string[]) => ask<Candidacy>(findCandidacies, names),
  };
}

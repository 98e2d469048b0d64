import type { TestRuntime } from '@muster/core/testing'
import { sql } from 'drizzle-orm'

/** Tables of the objects that the random mutations change. */
const TABLES = ['compute_nodes', 'node_groups', 'alert_silences', 'connection_tests', 'api_tokens'] as const

/** A transaction with effects and not exactly one entry, or with an entry and no effect. */
export type Violation = { xid: string; effects: string[] | null; entries: string[] | null }

/** From now on, triggers record the transaction of every change of these tables and of every audit entry. */
export const recordEffects = ({ asOwner }: Pick<TestRuntime, 'asOwner'>): Promise<void> =>
  asOwner(
    [
      'create table test_effects (xid text not null, place text not null, row_id text not null)',
      'grant select on test_effects to public',
      `create function test_record_effect() returns trigger language plpgsql security definer set search_path = public, pg_temp as $$
        begin
          insert into test_effects values
            (pg_current_xact_id()::text, tg_table_name || ' ' || lower(tg_op), coalesce(to_jsonb(new), to_jsonb(old)) ->> 'id');
          return null;
        end $$`,
      'create trigger test_effect after insert on audit_entries for each row execute function test_record_effect()',
      ...TABLES.map(
        (table) =>
          // The last use of a token is not an effect of a mutation.
          `create trigger test_effect after insert or delete ${table === 'api_tokens' ? '' : 'or update'} on ${table}
            for each row execute function test_record_effect()`,
      ),
    ].join(';\n'),
  )

/** Transactions that break the rule: exactly one entry per transaction with effects, and no successful entry without an effect. */
export async function findViolations({ runtime }: Pick<TestRuntime, 'runtime'>, actions: string[]): Promise<Violation[]> {
  const { rows } = await runtime.db.execute<Violation>(
    sql`with entries as (
        select t.xid, array_agg(e.action) as entries from test_effects t join audit_entries e on e.id::text = t.row_id
        where t.place = 'audit_entries insert' and e.outcome = 'succeeded' and e.action = any(${sql.param(actions)}) group by t.xid),
      effects as (
        select xid, array_agg(place || ' ' || row_id) as effects from test_effects where place <> 'audit_entries insert' group by xid)
    select coalesce(f.xid, e.xid) as xid, effects, entries from effects f full join entries e on e.xid = f.xid
    where effects is null or coalesce(cardinality(entries), 0) <> 1`,
  )
  return rows
}

/** Number of recorded audit entries. */
export async function countEntries({ runtime }: Pick<TestRuntime, 'runtime'>): Promise<number> {
  const { rows } = await runtime.db.execute<{ count: number }>(
    sql`select count(*)::int as count from test_effects where place = 'audit_entries insert'`,
  )
  return rows[0]!.count
}

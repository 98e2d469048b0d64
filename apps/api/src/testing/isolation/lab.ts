import { registerWorker } from '@muster/core/workers'
import { sql } from 'drizzle-orm'
import { globalId, type TypeName } from '../../graphql/shared/ids.ts'
import { testApi } from '../api.ts'
import { type Caller, callersOf } from './callers.ts'
import { likelyTypes, TYPE_OF } from './examples.ts'
import { type FilledTenant, fillTenant } from './fill-tenant.ts'
import { type Foreign, idsIn, normalized } from './foreign-bytes.ts'
import type { Operation, Slot } from './operations.ts'
import { createValues } from './values.ts'

export type Lab = Awaited<ReturnType<typeof createLab>>
/** What an operation sends and receives; `sent` are the values of the tested arguments. */
export type Attempt = { text: string; sent: string[] }

/** Starts an API with a tenant whose members attack another one, which `addVictim` adds, and one that proves that operations work. */
export async function createLab() {
  const t = await testApi()
  const { db } = t.runtime
  const worker = {
    name: 'worker',
    host: 'host',
    pid: 1,
    version: '1',
    ansibleVersion: '1',
    isolation: 'none',
    concurrency: 1,
  } as const
  await registerWorker(t.runtime, worker)
  // Its state must not change during the test.
  await db.execute(sql`update workers set last_seen_at = now() + interval '1 day'`)
  const stranger = await fillTenant(t, 'strangerzq')
  const control = await fillTenant(t, 'controlzq')
  const callers = await callersOf(t, stranger)
  // A use is recorded at most once a minute. Recorded at the first one, the address does not appear in the middle of the test.
  await db.execute(sql`update sessions set last_used_at = now() - interval '2 minutes'`)
  const [owner] = await callersOf(t, control)
  const { known, variablesFor } = createValues()

  /** Sends the operation with the value at the slot, and all else from `tenant`, the caller's own. */
  async function ask(
    caller: Caller,
    operation: Operation,
    tenant: FilledTenant,
    tested?: { slot: Slot; value: string },
    more = {},
  ) {
    const variables = { ...variablesFor(operation, tenant, tested), ...more }
    const { data, errors } = await t.send<unknown>(
      { headers: await caller.headers(operation.root === 'Mutation') },
      operation.document,
      variables,
    )
    return { text: JSON.stringify({ data, errors }), sent: tested ? [tested.value] : [] }
  }

  /** The result of a mutation without its payload, which has generated values. */
  const comparable = ({ root }: Operation, { text, sent }: Attempt): string => {
    const payload = root === 'Mutation' && /^\{"data":\{"\w+":\{"__typename":"(\w+Payload)"/.exec(text)?.[1]
    return payload || normalized(text, sent)
  }

  const typesOf = (tenant: FilledTenant) => Object.keys(tenant.ids) as TypeName[]

  /** Objects that the slot may name, most likely first. */
  function candidatesOf({ name }: Operation, slot: Slot): { type: TypeName; index: number }[] {
    const only = (/:(\w+)$/.exec(name)?.[1] ?? TYPE_OF[slot.path.at(-1)!]) as TypeName | undefined
    return (only ? [only] : likelyTypes(name, slot.path, typesOf(control))).flatMap((type) =>
      control.ids[type]!.slice(0, 8).map((_, index) => ({ type, index })),
    )
  }

  /** What an attempt shows of objects: whether the answer is that of a name or ID that does not exist. */
  async function probe(caller: Caller, operation: Operation, slot: Slot, tenant: FilledTenant, value: string, absent: string) {
    // Otherwise the limit of sign-in attempts could be reached between the two requests.
    if (operation.root === 'Mutation') await db.execute(sql`delete from sign_in_attempts`)
    const attempt = await ask(caller, operation, tenant, { slot, value })
    const answer = comparable(operation, attempt)
    if (/"code":"(FORBIDDEN|UNAUTHENTICATED)"/.test(attempt.text)) return { attempt, answer, expected: answer }
    const expected = comparable(operation, await ask(caller, operation, tenant, { slot, value: absent }))
    return { attempt, answer, expected }
  }

  /** Finds what the slot names, by an object of `control` for which its owner gets another answer than for one that does not exist. */
  async function learn(operation: Operation, slot: Slot): Promise<boolean> {
    if (slot.kind === 'String') {
      const { answer, expected } = await probe(owner!, operation, slot, control, control.marker, ABSENT)
      return answer !== expected
    }
    const absentAnswers = new Map<TypeName, string>()
    for (const candidate of candidatesOf(operation, slot)) {
      const { type, index } = candidate
      const best = known.get(slot.name)
      // The type is known; its other objects may suit the operation better.
      if (best && best.type !== type) break
      const absent = absentId(type)
      if (!absentAnswers.has(type))
        absentAnswers.set(type, comparable(operation, await ask(owner!, operation, control, { slot, value: absent })))
      const attempt = await ask(owner!, operation, control, { slot, value: control.ids[type]![index]! })
      if (comparable(operation, attempt) === absentAnswers.get(type)) continue
      const isDone = operation.root !== 'Mutation' || succeeded(attempt.text)
      if (isDone || !best) known.set(slot.name, candidate)
      if (isDone) break
    }
    return known.has(slot.name)
  }

  /** Takes the likeliest type of the slot for true; a positive control must prove it. */
  function guess(operation: Operation, slot: Slot): void {
    if (slot.kind === 'ID') known.set(slot.name, candidatesOf(operation, slot)[0]!)
  }

  /** The other tenant's value of the slot, and one of nobody. */
  function valuesOf(slot: Slot, tenant: FilledTenant): { value: string; absent: string } | null {
    if (slot.kind === 'String') return { value: tenant.marker, absent: ABSENT }
    const found = known.get(slot.name)
    return found ? { value: tenant.ids[found.type]![found.index]!, absent: absentId(found.type) } : null
  }

  /** Rows of the tenant in all tables, by table, as text. */
  async function rowsOf(tenant: FilledTenant): Promise<Map<string, string[]>> {
    const rows = new Map<string, string[]>()
    for (const { name, condition } of await tablesOf()) {
      const found = await db.execute<{ row: string }>(
        sql.raw(`select x::text as row from ${name} x where ${condition(tenant)} order by 1`),
      )
      rows.set(
        name,
        found.rows.map(({ row }) => row),
      )
    }
    return rows
  }

  /** Every table with rows of tenants, and the condition for those of one tenant. */
  async function tablesOf() {
    const { rows } = await db.execute<{ name: string; column: string; parent: string | null; key: string | null }>(sql`
      select c.relname as name, coalesce(f.own, 'tenant_id') as column, f.parent, f.key from pg_class c
      left join lateral (
        select a.attname as own, f.confrelid::regclass::text as parent, p.attname as key from pg_constraint f
        join pg_attribute a on a.attrelid = c.oid and a.attnum = f.conkey[1] and a.attnotnull
        join pg_attribute p on p.attrelid = f.confrelid and p.attnum = f.confkey[1]
        where f.conrelid = c.oid and f.contype = 'f' order by f.conname limit 1) f
        on not exists (select from pg_attribute t where t.attrelid = c.oid and t.attname = 'tenant_id')
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
        and (f.own is not null or exists (select from pg_attribute t where t.attrelid = c.oid and t.attname = 'tenant_id'))
      order by 1`)
    const conditionOf = (name: string, tenantId: string): string => {
      const table = rows.find((row) => row.name === name)
      if (name === 'tenants') return `id = '${tenantId}'`
      if (name === 'users') return `id in (select user_id from members where tenant_id = '${tenantId}')`
      if (!table) throw new Error(`${name} belongs to no tenant.`)
      if (!table.parent) return `tenant_id = '${tenantId}'`
      return `${table.column} in (select ${table.key} from ${table.parent} where ${conditionOf(table.parent, tenantId)})`
    }
    return ['tenants', 'users', ...rows.map(({ name }) => name)].map((name) => ({
      name,
      condition: ({ tenant }: FilledTenant) => conditionOf(name, tenant.id),
    }))
  }

  async function addVictim(): Promise<{ victim: FilledTenant; victimOwner: Caller; foreign: Foreign }> {
    const victim = await fillTenant(t, 'victimzq')
    const [victimOwner] = await callersOf(t, victim)
    const own = idsIn([...(await rowsOf(stranger)).values()].flat())
    const ids = new Set([...idsIn([...(await rowsOf(victim)).values()].flat())].filter((id) => !own.has(id)))
    return { victim, victimOwner: victimOwner!, foreign: { marker: victim.marker, ids } }
  }

  return {
    t,
    stranger,
    control,
    owner: owner!,
    callers,
    known,
    ask,
    comparable,
    learn,
    guess,
    variablesFor,
    probe,
    valuesOf,
    rowsOf,
    addVictim,
  }
}

const ABSENT = 'absentzq'
const absentId = (type: TypeName) => globalId(type, crypto.randomUUID())

/** Whether a mutation took effect, or was rejected because of the state of the object that it found. */
export const succeeded = (text: string): boolean => /^\{"data":\{"\w+":\{"__typename":"(\w+Payload|ConflictError)"/.test(text)

import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { computeNodes } from '../../nodes/tables.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { type Ctx, inTransaction } from '../context.ts'
import { type RecordedChange, recordedChanges } from './record-changes.ts'

let t: TestRuntime
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
})
afterAll(() => t?.close())

const mutation = (): Ctx => ({ ...ours.operator, attempt: {} })
const newNode = async () => (await t.given.fleet(ours.operator, { nodes: 1, prefix: `n${Math.random()}` }))[0]!
const notes = (changes: RecordedChange[] | undefined) => changes?.map(({ before, after }) => [before?.notes, after?.notes])

test('records the first and the last state of each row, also of savepoints', async () => {
  const [node, other] = [await newNode(), await newNode()]
  await inTransaction(mutation(), async (tx, ctx) => {
    await tx.update(computeNodes).set({ notes: 'one' }).where(eq(computeNodes.id, node.id))
    await inTransaction(ctx, (inner) => inner.update(computeNodes).set({ notes: 'two' }).where(eq(computeNodes.id, node.id)))
    await inTransaction(ctx, async (inner) => {
      await inner.delete(computeNodes).where(eq(computeNodes.id, other.id))
      throw new Error('rolled back')
    }).catch(() => {})
    const changes = await recordedChanges(tx, [node.id, other.id])
    expect(notes(changes.get(node.id))).toEqual([['', 'two']])
    expect(notes(changes.get(other.id))).toEqual([['', '']])
  })
})

test('records new and deleted rows', async () => {
  const { id: _, ...columns } = (await t.runtime.db.query.computeNodes.findFirst({ where: { id: (await newNode()).id } }))!
  const values = { tenantId: columns.tenantId, name: 'inserted', host: 'h', credentialId: columns.credentialId }
  await inTransaction(mutation(), async (tx) => {
    const [row] = await tx.insert(computeNodes).values(values).returning({ id: computeNodes.id })
    expect(notes((await recordedChanges(tx, [row!.id])).get(row!.id))).toEqual([[undefined, '']])
    expect(await tx.insert(computeNodes).values(values).onConflictDoNothing().returning()).toEqual([])
  })
  const node = await newNode()
  await inTransaction(mutation(), async (tx) => {
    await tx.delete(computeNodes).where(eq(computeNodes.id, node.id))
    expect(notes((await recordedChanges(tx, [node.id])).get(node.id))).toEqual([['', undefined]])
  })
})

test('records nothing outside of mutations', async () => {
  const node = await newNode()
  await inTransaction(ours.operator, async (tx) => {
    await tx.update(computeNodes).set({ notes: 'one' }).where(eq(computeNodes.id, node.id))
    expect(await recordedChanges(tx, [node.id])).toEqual(new Map())
  })
})

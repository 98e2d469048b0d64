import { agents } from '@muster/core/agents'
import { recordNodeChanges, removeLedgerSink, setLedgerSink, updateLedgerSettings } from '@muster/core/ledger'
import { computeNodes } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { dumpDatabase, insertAgents, LOOPBACK, type TenantFixture, type TestRuntime, testRuntime } from '@muster/core/testing'
import { eq, sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { encodeMessage } from '../ledger/message.ts'
import {
  bytesOf,
  type ChainOptions,
  makePrivateKey,
  numberOf,
  readFields,
  startFakeChain,
  textOf,
} from '../testing/fake-chain.ts'
import { reconcileLedgerSinks } from './ledger.ts'

const { ledgerEntries, ledgerReceipts, ledgerSinks } = schema
let t: TestRuntime
let ours: TenantFixture
const privateKey = makePrivateKey()
const open: { stop(): Promise<void> }[] = []
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t?.close())
beforeEach(async () => {
  await t.runtime.db.delete(ledgerSinks)
  ours = await t.given.tenant()
  await updateLedgerSettings(ours.admin, { isEnabled: true })
  await insertAgents({ db: t.runtime.db, tenantId: ours.tenant.id }, 5, { receivedAt: new Date() })
  await recordNodeChanges(t.runtime)
})
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop()
})

let count = 0
const worker = () => {
  const reconciler = reconcileLedgerSinks(t.runtime, `worker ${++count}`, { localTargets: LOOPBACK, pollMs: 20, timeoutMs: 5000 })
  open.push(reconciler)
  return reconciler
}
const chainOf = async (options: Partial<ChainOptions> = {}) => {
  const chain = await startFakeChain({ chainId: 'test-1', ...options })
  open.push(chain)
  const fields = { chainId: 'test-1', addressPrefix: 'akash', feeDenom: 'uakt', privateKey, url: chain.url }
  await setLedgerSink(ours.admin, fields, LOOPBACK)
  return chain
}
const sink = async () => (await t.runtime.db.select().from(ledgerSinks))[0]!
const receipts = () => t.runtime.db.select().from(ledgerReceipts).orderBy(ledgerReceipts.id)
const delivered = (size: number) => expect.poll(async () => (await sink()).deliveredSize).toBe(size)
/** Makes a failed delivery due now. */
const retryNow = async (reconciler: { trigger(): void }) => {
  await t.runtime.db.update(ledgerSinks).set({ retryAt: null, leasedUntil: null })
  reconciler.trigger()
}
const failure = (text: string) => expect.poll(async () => (await sink()).lastError ?? '').toContain(text)

it('delivers a signed message per node, which the chain can verify, with several workers', async () => {
  const chain = await chainOf()
  for (let i = 0; i < 3; i++) worker()
  await delivered(5)
  const [block] = [...chain.included.values()]
  expect(chain.included.size).toBe(1)
  expect(new Set(block!.typeUrls)).toEqual(new Set(['/muster.ledger.v1.MsgUpdateNodeMetadata']))
  expect(block!.messages.map((message) => textOf(message, 2)).sort()).toEqual(['a00000', 'a00001', 'a00002', 'a00003', 'a00004'])
  const [message] = block!.messages
  expect(textOf(message!, 1)).toMatch(/^akash1/)
  expect([numberOf(message!, 9), numberOf(message!, 10)]).toEqual([1, 3])
  expect(Buffer.from(textOf(message!, 12), 'base64')).toHaveLength(32)
  const [hash] = [...chain.included.keys()]
  expect(await receipts()).toMatchObject([{ transactionHash: hash, height: 101, fromSize: 0, toSize: 5 }])
})

it('sends the latest values of a node once', async () => {
  const chain = await chainOf({ refuse: (n) => (n === 0 ? 'the chain is halted' : null) })
  const reconciler = worker()
  await failure('the chain is halted')
  const [node] = await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.tenantId, ours.tenant.id)).limit(1)
  await t.runtime.db.update(agents).set({ state: 'DRAINED' }).where(eq(agents.nodeId, node!.id))
  await t.runtime.db.execute(sql`update ledger_settings set recorded_at = null`)
  await recordNodeChanges(t.runtime)
  await retryNow(reconciler)
  await delivered(6)
  const states = [...chain.included.values()].flatMap(({ messages }) =>
    messages.filter((message) => textOf(message, 2) === node!.name).map((message) => numberOf(message, 10)),
  )
  expect(states).toEqual([6])
})

it('sends the same transaction again after a lost answer, and the chain has it once', async () => {
  let isCut = true
  const chain = await chainOf({ cut: (method) => isCut && method === 'broadcast_tx_sync' })
  const reconciler = worker()
  await expect.poll(async () => (await sink()).failingSince).not.toBeNull()
  expect(chain.included.size).toBe(1)
  expect((await sink()).pendingTransaction).not.toBeNull()
  isCut = false
  await retryNow(reconciler)
  await delivered(5)
  expect(chain.included.size).toBe(1)
  expect(chain.broadcasts()).toBe(1)
})

it('signs a new transaction when another one took its place in the account', async () => {
  let isCut = true
  const chain = await chainOf({ hold: (n) => n === 0, cut: (method) => isCut && method === 'broadcast_tx_sync' })
  const reconciler = worker()
  await expect.poll(async () => (await sink()).failingSince).not.toBeNull()
  chain.account.sequence++
  chain.mine()
  isCut = false
  await retryNow(reconciler)
  await failure('took the place')
  await retryNow(reconciler)
  await delivered(5)
  expect(chain.included.size).toBe(1)
})

it('names the chain that refuses, and keeps the key out of the database and of errors', async () => {
  await chainOf({ chainId: 'other-1' })
  worker()
  await failure('signature verification failed')
  const { encrypted, ...shown } = await sink()
  expect(JSON.stringify(shown)).not.toContain(privateKey)
  expect(Object.keys(encrypted).sort()).toEqual(['privateKey', 'url'])
  expect(JSON.stringify(await dumpDatabase(t.url))).not.toContain(privateKey)
})

it('starts another chain from the first entry, and keeps entries when it is removed', async () => {
  await chainOf()
  worker()
  await delivered(5)
  await setLedgerSink(ours.admin, { chainId: 'test-2', isEnabled: false })
  expect(await sink()).toMatchObject({ deliveredSize: 0, isEnabled: false })
  await removeLedgerSink(ours.admin)
  expect(await t.runtime.db.$count(ledgerEntries, eq(ledgerEntries.tenantId, ours.tenant.id))).toBe(5)
})

it('discards a delivery in progress when the chain changes', async () => {
  const chain = await chainOf({ hold: () => true })
  worker()
  await expect.poll(() => chain.broadcasts()).toBe(1)
  await setLedgerSink(ours.admin, { chainId: 'test-2', isEnabled: false })
  chain.mine()
  await open[1]!.stop()
  expect(await sink()).toMatchObject({ deliveredSize: 0, pendingTransaction: null })
  expect(await receipts()).toEqual([])
})

it('stops after a transaction that the chain charges for but does not execute', async () => {
  const chain = await chainOf({ fail: () => 'unknown provider' })
  worker()
  await failure('charged for the transaction')
  expect(await sink()).toMatchObject({ isEnabled: false, deliveredSize: 0, pendingTransaction: null })
  expect(chain.broadcasts()).toBe(1)
})

it('rejects local addresses and invalid keys', async () => {
  const fields = { chainId: 'c', addressPrefix: 'akash', feeDenom: 'uakt', privateKey, url: 'http://127.0.0.1:26657' }
  await expect(setLedgerSink(ours.admin, fields)).rejects.toThrow('url')
  await expect(setLedgerSink(ours.admin, { ...fields, privateKey: 'abc' })).rejects.toThrow('64 hexadecimal digits')
  await expect(setLedgerSink(ours.admin, { chainId: 'c' })).rejects.toThrow('is required for a new sink')
})

it('rounds a latency below one millisecond up', async () => {
  const [entry] = await t.runtime.db.select().from(ledgerEntries).limit(1)
  const record = JSON.parse(entry!.record)
  const measured = { target_node_id: 'b', measured_at: '2026-11-24T10:00:00.250Z' }
  record.latency_measurements = [1, 999, 1000, 1001].map((latency_us) => ({ ...measured, latency_us }))
  const fields = readFields(encodeMessage(record, 'akash1x'))
  const measurements = fields.filter(({ number }) => number === 6).map(({ value }) => readFields(value as Buffer))
  expect(measurements.map((each) => numberOf(each, 2))).toEqual([1, 1, 1, 2])
  expect(numberOf(readFields(bytesOf(measurements[0]!, 3)), 2)).toBe(250_000_000)
})

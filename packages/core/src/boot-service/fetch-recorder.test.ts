import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import type { FetchRecord } from './fetch-record.ts'
import { createFetchRecorder } from './fetch-recorder.ts'
import { bootFetches } from './tables.ts'

let t: TestRuntime
let ours: TenantFixture
let node: { id: string; name: string }
beforeAll(async () => {
  t = await testRuntime()
})
beforeEach(async () => {
  ours = await t.given.tenant()
  node = (await t.given.fleet(ours.operator, { nodes: 1 }))[0]!
})
afterAll(() => t.close())

const fetchOf = (kind: FetchRecord['kind'], more: Partial<FetchRecord> = {}): FetchRecord => ({
  ...{ nodeId: node.id, nodeName: node.name, kind, hash: kind, profile: 'compute', profileVersion: 1, address: null },
  ...more,
})
const script = () => fetchOf('BOOT_SCRIPT', { mac: '02:00:00:00:00:01' })
const userData = () => fetchOf('USER_DATA', { token: { reason: null } })
const kinds = async () => (await ours.system.db.select().from(bootFetches)).map(({ kind }) => kind).sort()

test('scripts and content with a place for a token wait, in order; other content does not', async () => {
  const recorder = createFetchRecorder(ours.system)
  expect(await recorder.record(script())).toMatchObject({ token: null })
  expect(await kinds()).toEqual(['BOOT_SCRIPT'])
  // The script began the boot of the token.
  expect(await recorder.record(userData())).toMatchObject({ token: expect.stringMatching(/^msb_/), refusal: null })
  expect(await kinds()).toEqual(['BOOT_SCRIPT', 'USER_DATA'])
  expect(await recorder.record(fetchOf('META_DATA'))).toBeNull()
  await recorder.flush()
  expect(await kinds()).toEqual(['BOOT_SCRIPT', 'META_DATA', 'USER_DATA'])
})

test('a fetch that cannot be recorded costs no other one', async () => {
  const recorder = createFetchRecorder(ours.system)
  await recorder.record({ ...fetchOf('META_DATA'), nodeId: '00000000-0000-7000-8000-000000000000' })
  await recorder.record(script())
  await recorder.flush()
  expect(await kinds()).toEqual(['BOOT_SCRIPT'])
})

/** A recorder with a database that is away until `comeBack`. */
function recorderWithoutDatabase() {
  let isAway = true
  const db = new Proxy(ours.system.db, {
    get: (target, name) => {
      if (name === 'transaction' && isAway) throw Object.assign(new Error('terminating connection'), { code: '57P01' })
      return Reflect.get(target, name)
    },
  })
  const comeBack = () => {
    isAway = false
  }
  return { recorder: createFetchRecorder({ ...ours.system, db }), comeBack }
}

test('fetches wait while the database is away; scripts and those with a place for a token fail', async () => {
  const { recorder, comeBack } = recorderWithoutDatabase()
  await recorder.record(fetchOf('META_DATA'))
  for (const fetch of [script(), userData()]) await expect(recorder.record(fetch)).rejects.toThrow('terminating connection')
  comeBack()
  await expect.poll(kinds, { timeout: 5000 }).toEqual(['META_DATA'])
})

test('a stop waits for a database that comes back', async () => {
  const { recorder, comeBack } = recorderWithoutDatabase()
  await recorder.record(fetchOf('META_DATA'))
  for (const fetch of [script(), userData()]) await expect(recorder.record(fetch)).rejects.toThrow('terminating connection')
  const flushed = recorder.flush()
  comeBack()
  await flushed
  expect(await kinds()).toEqual(['META_DATA'])
})

import { testConnections } from '@muster/core/connections'
import type { SystemCtx } from '@muster/core/context'
import type { Db } from '@muster/core/db'
import { discoverNodes } from '@muster/core/discoveries'
import { addNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import { LOOPBACK, type TenantFixture, type TestRuntime, testRuntime } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createBastionPool } from '../ssh/bastion-pool.ts'
import { connectionTestHandler } from './connection-test.ts'
import { discoveryHandler } from './discovery.ts'

let fixture: TestRuntime
let tenantFixture: TenantFixture
beforeAll(async () => {
  fixture = await testRuntime()
  tenantFixture = await fixture.given.tenant()
})
afterAll(() => fixture.close())

/** Rejects the first attempt of every statement and transaction, like a server that restarts repeatedly. */
function withTransientErrors(runtime: SystemCtx): { runtime: SystemCtx; rejected: () => number } {
  let calls = 0
  const failing = <D extends Db>(db: D): D =>
    new Proxy(db, {
      get(target, key) {
        const value = Reflect.get(target, key, target)
        if (!['select', 'update', 'insert', 'transaction'].includes(String(key))) return value
        return (...args: unknown[]) => {
          if (++calls % 2 === 1) throw Object.assign(new Error('terminating connection'), { code: '57P01' })
          return Reflect.apply(value as () => unknown, target, args)
        }
      },
    })
  const tenantDb: SystemCtx['tenantDb'] = (tenantId) => failing(runtime.tenantDb(tenantId))
  return { runtime: { ...runtime, db: failing(runtime.db), tenantDb }, rejected: () => Math.ceil(calls / 2) }
}

const depsOf = (runtime: SystemCtx) => ({
  runtime,
  config: { SSH_TIMEOUT: 5, LOCAL_TARGETS: LOOPBACK },
  workerId: 'w',
  bastions: createBastionPool(),
  stopping: new AbortController().signal,
})

it('tests and discoveries complete when every database call first fails', async () => {
  const node = await addNode(tenantFixture.admin, { name: 'here', host: 'localhost', connectionType: 'local' })
  const { runtime, rejected } = withTransientErrors(fixture.runtime)
  const [requested] = await testConnections(tenantFixture.admin, { nodeIds: [node.id] })
  await connectionTestHandler(depsOf(runtime))({ id: requested!.id, tenantId: tenantFixture.tenant.id })
  const [test] = await fixture.runtime.db
    .select()
    .from(schema.connectionTests)
    .where(eq(schema.connectionTests.id, requested!.id))
  expect(test).toMatchObject({ isOk: true, error: null })
  expect(test!.stages.map(({ stage }) => stage)).toEqual([
    ...['RESOLVE', 'TCP', 'BANNER', 'HOST_KEY', 'AUTHENTICATION', 'SHELL', 'SUDO', 'PYTHON', 'ANSIBLE'],
  ])
  expect(rejected()).toBeGreaterThan(9)

  const [wanted] = await discoverNodes(tenantFixture.admin, { nodeIds: [node.id] })
  await discoveryHandler(depsOf(runtime))({ id: wanted!.id, tenantId: tenantFixture.tenant.id })
  const [row] = await fixture.runtime.db.select().from(schema.discoveries).where(eq(schema.discoveries.id, wanted!.id))
  expect(row).toMatchObject({ status: 'SUCCEEDED', error: null })
})

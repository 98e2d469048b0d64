import { claimJobRun } from '@muster/core/run-queue'
import type { TenantFixture } from '@muster/core/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { mutate } from '../../testing/mutate.ts'
import { parseId } from '../shared/ids.ts'

let api: Awaited<ReturnType<typeof testApi>>
let tenant: TenantFixture
beforeAll(async () => {
  api = await testApi()
})
beforeEach(async () => {
  tenant = await api.given.tenant()
  const { id: credentialId } = await api.given.credential(tenant.admin, 'SSH_KEY')
  await api.given.fleet(tenant.operator, { nodes: 3, with: { credentialId } })
})
afterAll(() => api?.close())

const run = (fields: object, as = tenant.operator) =>
  mutate(
    api,
    as,
    'runJob',
    `run { id number templateName status limit extraVars hostCounts { total } hostSummary { result count hostlist }
      hosts { edges { node { name result node { name } } } } events { edges { node { seq } } } cancelBlockedReason durationMs
      createdBy { name } template { name } }`,
    { template: 'connectivity_check', ...fields },
  )
const cancel = (id: string) =>
  mutate(api, tenant.operator, 'cancelJobRun', 'run { status cancelRequestedAt cancelBlockedReason }', { id })

test('starts a run with its hosts and extra vars', async () => {
  const extraVars = { text: '{{ lookup("pipe", "id") }}' }
  expect(await run({ limit: 'gpu[001-002]', extraVars, reason: 'try' })).toMatchObject({
    run: {
      templateName: 'connectivity_check',
      status: 'PENDING',
      number: 1,
      createdBy: { name: 'test operator' },
      hostCounts: { total: 2 },
      extraVars,
      hostSummary: [{ result: 'PENDING', count: 2, hostlist: 'gpu[001-002]' }],
      hosts: {
        edges: [{ node: { name: 'gpu001', result: 'PENDING', node: { name: 'gpu001' } } }, { node: { name: 'gpu002' } }],
      },
      events: { edges: [] },
      cancelBlockedReason: null,
      durationMs: null,
    },
  })
})

test('returns the same run for a repeated idempotency key, and a conflict when the input differs', async () => {
  const first = await run({ limit: 'gpu[001-002]', idempotencyKey: 'k' })
  expect((await run({ limit: 'gpu[001-002]', idempotencyKey: 'k' })).run.id).toBe(first.run.id)
  expect(await run({ limit: 'all', idempotencyKey: 'k' })).toMatchObject({ __typename: 'ConflictError' })
})

test('rejects an invalid limit, invalid extra vars, an unknown template and a viewer', async () => {
  expect(await run({ limit: 'gpu[1-' })).toMatchObject({ __typename: 'InvalidInputError' })
  for (const extraVars of [{ ansible_connection: 'local' }, ['no', 'object']])
    expect(await run({ limit: 'all', extraVars })).toMatchObject({ __typename: 'InvalidInputError' })
  expect(await run({})).toMatchObject({ __typename: 'InvalidInputError', message: expect.stringContaining('where to run') })
  expect(await run({ template: 'no_such', limit: 'all' })).toMatchObject({ __typename: 'NotFoundError' })
  expect(await run({ limit: 'all' }, tenant.viewer)).toMatchObject({ __typename: 'ForbiddenError' })
})

test('cancels a pending run immediately and a running one when its worker stops it', async () => {
  const pending = await run({ limit: 'gpu[001-002]' })
  expect(await cancel(pending.run.id)).toMatchObject({ run: { status: 'CANCELED', cancelBlockedReason: expect.any(String) } })
  expect(await cancel(pending.run.id)).toMatchObject({
    __typename: 'ConflictError',
    message: expect.stringContaining('CANCELED'),
  })
  const running = await run({ limit: 'gpu003' })
  await claimJobRun(tenant.worker, { id: parseId(running.run.id)!.id, workerId: 'w' })
  expect(await cancel(running.run.id)).toMatchObject({ run: { status: 'CANCELING' } })
  const { jobRuns } = await api.ask<{ jobRuns: object }>(
    tenant.viewer,
    '{ jobRuns(filter: { status: [CANCELED, CANCELING], text: "CONNECTIVITY" }) { totalCount edges { node { status } } } }',
  )
  expect(jobRuns).toEqual({ totalCount: 2, edges: [{ node: { status: 'CANCELING' } }, { node: { status: 'CANCELED' } }] })
})

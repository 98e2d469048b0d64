import type { TenantFixture } from '@muster/core/testing'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testApi } from '../../../testing/api.ts'
import { mutate } from '../../../testing/mutate.ts'

let api: Awaited<ReturnType<typeof testApi>>
let tenant: TenantFixture
beforeAll(async () => {
  api = await testApi()
})
beforeEach(async () => {
  tenant = await api.given.tenant()
})
afterAll(() => api?.close())

const ROWS = 'rows { row state name host port issues { path message } node { name credential { name } } }'

const importNodes = (as: TenantFixture['owner'], input: object) =>
  mutate(api, as, 'importNodes', `report { addedCount failedCount ${ROWS} }`, input)

test('validates an import, then adds the valid rows and reports the others', async () => {
  const credential = await api.given.credential(tenant.admin, 'SSH_KEY', { name: 'lab key' })
  const text = 'name,host,credential\na1,10.0.0.1,lab key\na2,10.0.0.2,no such\n-x,10.0.0.3,'
  const { checkNodeImport } = await api.ask<{ checkNodeImport: { rows: { state: string }[] } }>(
    tenant.operator,
    `query ($input: CheckNodeImportInput!) { checkNodeImport(input: $input) { ... on NodeImportReport { ${ROWS} } } }`,
    { input: { format: 'CSV', text } },
  )
  expect(checkNodeImport.rows.map(({ state }) => state)).toEqual(['VALID', 'INVALID', 'INVALID'])
  const { report } = await importNodes(tenant.operator, { format: 'CSV', text, defaults: { port: 2222, tags: ['new'] } })
  expect(report).toMatchObject({ addedCount: 1, failedCount: 2 })
  expect(report.rows[0]).toMatchObject({
    state: 'ADDED',
    port: 2222,
    node: { name: 'a1', credential: { name: credential.name } },
  })
  const again = await importNodes(tenant.operator, { format: 'LIST', text: 'a[1-3]', onlyRows: null })
  expect(again.report).toMatchObject({ addedCount: 2 })
})

test('rejects an unreadable inventory and the role viewer', async () => {
  expect(await importNodes(tenant.operator, { format: 'INVENTORY', text: '[unclosed' })).toMatchObject({
    __typename: 'InvalidInputError',
  })
  expect(await importNodes(tenant.viewer, { format: 'LIST', text: 'b' })).toMatchObject({ __typename: 'ForbiddenError' })
})

import { type TenantFixture, tarGz } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { globalId } from './graphql/shared/ids.ts'
import { testApi } from './testing/api.ts'

let t: Awaited<ReturnType<typeof testApi>>
let cast: TenantFixture
beforeAll(async () => {
  t = await testApi()
  cast = await t.given.tenant()
})
afterAll(() => t?.close())

const content = tarGz([{ path: 'site.yml', text: '- hosts: all\n' }]).toString('base64')
const ERRORS = '... on Error { code } ... on InvalidInputError { issues { path message } }'
const ask = async (as: TenantFixture['owner'], query: string, variables: object = {}) =>
  (await t.ask<{ it: Record<string, unknown> }>(as, query, variables)).it
const create = (input: object) =>
  ask(
    cast.admin,
    `mutation ($input: CreateJobTemplateInput!) { it: createJobTemplate(input: $input) { __typename ... on JobTemplate { id name source version bundle { name files { path size } } inputSchema editBlockedReason } ${ERRORS} } }`,
    { input },
  )

test('a bundle is uploaded, a template made of it, changed, previewed and brought back', async () => {
  const upload = `mutation ($content: String!) { it: uploadPlaybookBundle(name: "site.tgz", content: $content) { __typename ... on PlaybookBundle { id sha256 } ${ERRORS} } }`
  expect(await ask(cast.operator, upload, { content })).toMatchObject({ code: 'FORBIDDEN' })
  expect(await ask(cast.admin, upload, { content: '?' })).toMatchObject({
    issues: [{ path: 'content', message: 'must be base64' }],
  })
  const bundle = await ask(cast.admin, upload, { content })

  const inputSchema = { type: 'object', properties: { level: { type: 'integer', maximum: 3 } } }
  const made = await create({
    name: 'site',
    source: 'BUNDLE',
    bundleId: bundle.id,
    playbookPath: 'site.yml',
    serial: '1,50%',
    inputSchema,
  })
  expect(made).toMatchObject({
    source: 'BUNDLE',
    version: 1,
    bundle: { name: 'site.tgz', files: [{ path: 'site.yml', size: 13 }] },
    inputSchema,
    editBlockedReason: null,
  })
  expect(await create({ name: 'bad', playbookPath: 'x.yml', inputSchema: 'text', defaultVars: { a: 1 } })).toMatchObject({
    issues: [{ path: 'inputSchema' }],
  })

  const update = `mutation ($input: UpdateJobTemplateInput!) { it: updateJobTemplate(input: $input) { __typename ... on JobTemplate { version serial forks versions { version reason settings } } ${ERRORS} } }`
  expect(
    await ask(cast.admin, update, { input: { id: made.id, serial: null, forks: null, reason: 'all at once' } }),
  ).toMatchObject({
    version: 2,
    serial: null,
    forks: 20,
    versions: [
      { version: 2, reason: 'all at once' },
      { version: 1, reason: null, settings: { serial: '1,50%' } },
    ],
  })
  expect(await ask(cast.admin, update, { input: { id: made.id, version: 1, forks: 3 } })).toMatchObject({ code: 'CONFLICT' })

  const [node] = await t.given.fleet(cast.operator, { prefix: 'tpl', with: { connectionType: 'local' } })
  const preview = `query ($input: RunJobInput!) { it: previewRun(input: $input) { __typename ... on RunPreview {
    template { name } hostsTotal hostlist command inventory refusals { reason } waitsFor { count }
    hosts { nodeId name vars { name value layer overridden { layer } } } } ${ERRORS} } }`
  const input = { template: 'site', limit: 'all', extraVars: { level: 2 } }
  expect(await ask(cast.operator, preview, { input })).toMatchObject({
    template: { name: 'site' },
    hostlist: node!.name,
    command: ['ansible-playbook', '-i', 'inventory.yml', '-e', '@extra-vars.yml', '--forks', '20', 'site.yml'],
    hosts: [{ nodeId: globalId('ComputeNode', node!.id), vars: [{ name: 'level', value: 2, layer: 'RUN', overridden: [] }] }],
    refusals: [],
    waitsFor: [],
  })
  expect(await ask(cast.operator, preview, { input: { ...input, extraVars: { level: 4 } } })).toMatchObject({
    issues: [{ path: 'extraVars.level', message: 'must be <= 3' }],
  })

  const archive = `mutation ($id: ID!) { it: archiveJobTemplate(id: $id) { __typename ... on JobTemplate { archivedAt editBlockedReason } ${ERRORS} } }`
  expect(await ask(cast.admin, archive, { id: made.id })).toMatchObject({
    editBlockedReason: expect.stringContaining('is archived'),
  })
  const names = async (archived: boolean) =>
    JSON.stringify(await ask(cast.viewer, `{ it: jobTemplates(archived: ${archived}) { totalCount edges { node { name } } } }`))
  expect(await names(false)).not.toContain('"site"')
  expect(await names(true)).toContain('"totalCount":1')
  const restore = `mutation ($id: ID!) { it: restoreJobTemplate(id: $id, version: 1) { __typename ... on JobTemplate { version serial archivedAt } ${ERRORS} } }`
  expect(await ask(cast.admin, restore, { id: made.id })).toMatchObject({ version: 3, serial: '1,50%', archivedAt: null })
})

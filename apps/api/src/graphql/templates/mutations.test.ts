import { type TenantFixture, tarGz } from '@muster/core/testing'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { mutate } from '../../testing/mutate.ts'
import { globalId } from '../shared/ids.ts'

let api: Awaited<ReturnType<typeof testApi>>
let tenant: TenantFixture
beforeAll(async () => {
  api = await testApi()
  tenant = await api.given.tenant()
})
afterAll(() => api?.close())

const content = tarGz([{ path: 'site.yml', text: '- hosts: all\n' }]).toString('base64')
const inputSchema = { type: 'object', properties: { level: { type: 'integer', maximum: 3 } } }
const create = (input: object) =>
  mutate(
    api,
    tenant.admin,
    'createJobTemplate',
    'template { id name version updateBlockedReason settings { source bundle { name files { path sizeBytes } } git { url } inputSchema } }',
    input,
  )
const update = (input: object) =>
  mutate(
    api,
    tenant.admin,
    'updateJobTemplate',
    'template { version settings { serial forks } versions(first: 5) { totalCount edges { node { version reason createdBy { name } settings { serial bundle { name } } } } } }',
    input,
  )

test('uploads a bundle once per content and deletes it while no template uses it', async () => {
  const upload = (as: TenantFixture['owner'], archive: string) =>
    mutate(api, as, 'uploadPlaybookBundle', 'bundle { id sha256 }', { name: 'site.tgz', content: archive })
  expect(await upload(tenant.operator, content)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await upload(tenant.admin, '?')).toMatchObject({ issues: [{ path: 'content', message: 'must be base64' }] })
  const { bundle } = await upload(tenant.admin, content)
  expect((await upload(tenant.admin, content)).bundle).toEqual(bundle)
  expect(await mutate(api, tenant.admin, 'deletePlaybookBundle', 'deletedId', { id: bundle.id })).toEqual({
    __typename: 'DeletePlaybookBundlePayload',
    deletedId: bundle.id,
  })
})

test('creates, changes, previews, archives and restores a template', async () => {
  const { bundle } = await mutate(api, tenant.admin, 'uploadPlaybookBundle', 'bundle { id }', { name: 'site.tgz', content })
  const { template } = await create({
    name: 'site',
    settings: { source: 'BUNDLE', bundleId: bundle.id, playbookPath: 'site.yml', serial: '1,50%', inputSchema },
  })
  expect(template).toMatchObject({
    version: 1,
    settings: {
      source: 'BUNDLE',
      bundle: { name: 'site.tgz', files: [{ path: 'site.yml', sizeBytes: 13 }] },
      git: null,
      inputSchema,
    },
    updateBlockedReason: null,
  })
  const { id } = template
  for (const [settings, path] of [
    [{ playbookPath: 'x.yml', inputSchema: 'text', defaultVars: { a: 1 } }, 'settings.inputSchema'],
    [{ playbookPath: 'x.yml', source: 'GIT', git: { url: 'file:///etc', ref: 'main' } }, 'settings.git.url'],
    [{}, 'settings.playbookPath'],
  ] as const)
    expect(await create({ name: 'bad', settings })).toMatchObject({
      issues: expect.arrayContaining([expect.objectContaining({ path })]),
    })
  expect(await update({ id, settings: { serial: null, forks: null }, reason: 'all at once' })).toMatchObject({
    template: {
      version: 2,
      settings: { serial: null, forks: 20 },
      versions: {
        totalCount: 2,
        edges: [
          { node: { version: 2, reason: 'all at once', createdBy: { name: 'test admin' } } },
          { node: { version: 1, reason: null, settings: { serial: '1,50%', bundle: { name: 'site.tgz' } } } },
        ],
      },
    },
  })
  expect(await update({ id, version: 1, settings: { forks: 3 } })).toMatchObject({ code: 'CONFLICT' })

  const [node] = await api.given.fleet(tenant.operator, { prefix: 'tpl', with: { connectionType: 'local' } })
  const preview = async (extraVars: object) =>
    (
      await api.ask<{ previewRun: object }>(
        tenant.operator,
        `query ($input: RunJobInput!) { previewRun(input: $input) { ... on RunPreview {
          template { name } hostCount hostlist command inventory rejections { reason } waitsFor { count }
          hosts { totalCount edges { node { node { id } name vars { name value { json isSecret } layer overridden { layer } } } } } }
          ... on InvalidInputError { issues { path message } } } }`,
        { input: { template: 'site', limit: 'all', extraVars } },
      )
    ).previewRun
  expect(await preview({ level: 2 })).toMatchObject({
    template: { name: 'site' },
    hostlist: node!.name,
    command: ['ansible-playbook', '-i', 'inventory.yml', '-e', '@extra-vars.yml', '--forks', '20', 'site.yml'],
    hostCount: 1,
    hosts: {
      totalCount: 1,
      edges: [
        {
          node: {
            node: { id: globalId('ComputeNode', node!.id) },
            vars: [{ name: 'level', value: { json: 2, isSecret: false }, layer: 'RUN', overridden: [] }],
          },
        },
      ],
    },
    rejections: [],
    waitsFor: [],
  })
  expect(await preview({ level: 4 })).toMatchObject({ issues: [{ path: 'extraVars.level', message: 'must be <= 3' }] })

  expect(
    await mutate(api, tenant.admin, 'archiveJobTemplate', 'template { archivedAt updateBlockedReason }', { id }),
  ).toMatchObject({
    template: { updateBlockedReason: expect.stringContaining('is archived') },
  })
  const names = async (archived: boolean) =>
    JSON.stringify(
      await api.ask(
        tenant.viewer,
        `{ jobTemplates(filter: { isArchived: ${archived} }) { totalCount edges { node { name } } } }`,
      ),
    )
  expect(await names(false)).not.toContain('"site"')
  expect(await names(true)).toContain('"totalCount":1')
  expect(
    await mutate(api, tenant.admin, 'restoreJobTemplate', 'template { version settings { serial } archivedAt }', {
      id,
      version: 1,
    }),
  ).toMatchObject({ template: { version: 3, settings: { serial: '1,50%' }, archivedAt: null } })
})

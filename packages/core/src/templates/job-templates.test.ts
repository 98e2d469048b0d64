import { asc, eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { schema } from '../registry.ts'
import { runJob } from '../runs/index.ts'
import { tarGz, zip } from '../testing/archives.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { race } from '../testing/race.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { archiveJobTemplate } from './archive-job-template.ts'
import { type createJobTemplate as Create, createJobTemplate } from './create-job-template.ts'
import { deletePlaybookBundle } from './delete-playbook-bundle.ts'
import { restoreJobTemplate } from './restore-job-template.ts'
import type { JobTemplate } from './tables.ts'
import { updateJobTemplate } from './update-job-template.ts'
import { uploadPlaybookBundle } from './upload-playbook-bundle.ts'

let t: TestRuntime
let ours: TenantFixture
let stranger: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
  stranger = await t.given.tenant()
})
afterAll(() => t?.close())

let count = 0
const make = (fields: Partial<Parameters<typeof Create>[1]> = {}): Promise<JobTemplate> =>
  createJobTemplate(ours.admin, { name: `own${++count}`, playbookPath: 'connectivity_check.yml', ...fields })

const history = (id: string) =>
  t.runtime.db
    .select()
    .from(schema.jobTemplateVersions)
    .where(eq(schema.jobTemplateVersions.templateId, id))
    .orderBy(asc(schema.jobTemplateVersions.version))

test('a new template has defaults, a first version and a unique name', async () => {
  const template = await make({ reason: 'we need it' })
  expect(template).toMatchObject({ displayName: template.name, category: 'custom', source: 'shipped', version: 1, forks: 20 })
  expect(await history(template.id)).toMatchObject([
    { version: 1, reason: 'we need it', createdByName: ours.admin.actor.name, snapshot: { name: template.name, forks: 20 } },
  ])
  await expect(make({ name: template.name })).rejects.toMatchObject({ code: 'CONFLICT' })
})

test('only admins of the tenant can write templates', async () => {
  const { id } = await make()
  await expect(createJobTemplate(ours.operator, { name: 'x', playbookPath: 'x.yml' })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  })
  for (const write of [updateJobTemplate, archiveJobTemplate, restoreJobTemplate]) {
    await expect(write(ours.operator, { id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(write(stranger.admin, { id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  }
  const content = tarGz([{ path: 'site.yml' }])
  await expect(uploadPlaybookBundle(ours.operator, { name: 'x', content })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test.each<[string, Partial<Parameters<typeof Create>[1]>]>([
  ['name', { name: '../x' }],
  ['playbookPath', { playbookPath: '../x.yml' }],
  ['playbookPath', { playbookPath: '/etc/x.yml' }],
  ['playbookPath', { playbookPath: 'site.txt' }],
  ['becomeUser', { becomeUser: '-u root' }],
  ['serial', { serial: '0' }],
  ['maxFailPercentage', { maxFailPercentage: 101 }],
  ['jobTags.0', { jobTags: ['a,b'] }],
  ['bundleId', { source: 'bundle' }],
  ['gitRef', { source: 'git', gitUrl: 'https://git.test/a/b.git' }],
  ['gitUrl', { source: 'git', gitRef: 'main', gitUrl: 'file:///etc' }],
  ['gitUrl', { source: 'git', gitRef: 'main', gitUrl: 'ext::sh -c id' }],
  ['gitUrl', { source: 'git', gitRef: 'main', gitUrl: '--upload-pack=id' }],
  ['gitUrl', { source: 'git', gitRef: 'main', gitUrl: 'https://user:secret@git.test/a' }],
  ['gitUrl', { source: 'git', gitRef: 'main', gitUrl: 'ssh://-oProxyCommand=id/a' }],
  ['gitUrl', { source: 'git', gitRef: 'main', gitUrl: 'https://git.test\\@elsewhere.test/a' }],
  ['gitUrl', { source: 'git', gitRef: 'main', gitUrl: 'https://user@elsewhere.test@git.test/a' }],
  ['gitUrl', { source: 'git', gitRef: 'main', gitUrl: 'https://git.test?@elsewhere.test/a' }],
  ['gitRef', { source: 'git', gitRef: '--upload-pack=id', gitUrl: 'https://git.test/a' }],
  ['gitRef', { source: 'git', gitRef: 'a:refs/heads/b', gitUrl: 'https://git.test/a' }],
  ['inputSchema.properties.a.typ', { inputSchema: { type: 'object', properties: { a: { typ: 'string' } } } }],
  ['defaultVars.ansible_host', { defaultVars: { ansible_host: 'x' } }],
  [
    'defaultVars.key',
    { defaultVars: { key: 'x' }, inputSchema: { type: 'object', properties: { key: { type: 'string', 'x-secret': true } } } },
  ],
])('at %s it refuses %j', async (path, fields) => {
  await expect(make(fields)).rejects.toMatchObject({ issues: [{ path }] })
})

test('an update changes the given fields and stores a version; of concurrent updates with a version, one fails', async () => {
  const { id, name } = await make({ forks: 5 })
  const changed = await updateJobTemplate(ours.admin, { id, serial: '1, 30%', reason: 'canary first' })
  expect(changed).toMatchObject({ name, forks: 5, serial: '1,30%', version: 2 })
  expect((await history(id)).map(({ version, reason, snapshot }) => [version, reason, snapshot.serial])).toEqual([
    [1, null, null],
    [2, 'canary first', '1,30%'],
  ])
  const { won, lost } = await race(
    updateJobTemplate(ours.admin, { id, version: 2, forks: 6 }),
    updateJobTemplate(ours.admin, { id, version: 2, forks: 7 }),
  )
  expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['Conflict']])
})

test('a change of source clears the fields of the old source', async () => {
  const template = await make({ source: 'git', gitUrl: 'https://git.test/a/b.git', gitRef: 'v1.2', playbookPath: 'site.yml' })
  expect(template).toMatchObject({ gitRef: 'v1.2' })
  const shipped = await updateJobTemplate(ours.admin, { id: template.id, source: 'shipped' })
  expect(shipped).toMatchObject({ gitUrl: null, gitRef: null })
})

test('an archived template cannot be run or changed until it is restored', async () => {
  const { id, name } = await make()
  const [node] = await t.given.fleet(ours.operator, { prefix: 'arch' })
  await archiveJobTemplate(ours.admin, { id })
  await expect(archiveJobTemplate(ours.admin, { id })).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(updateJobTemplate(ours.admin, { id, forks: 3 })).rejects.toThrow(/is archived; restore it first/)
  await expect(runJob(ours.operator, { template: name, nodeIds: [node!.id] })).rejects.toThrow(/is archived/)
  expect(await restoreJobTemplate(ours.admin, { id })).toMatchObject({ archivedAt: null, version: 1 })
})

test('restores an old version as a new one', async () => {
  const { id } = await make({ forks: 5 })
  await updateJobTemplate(ours.admin, { id, forks: 9, description: 'more' })
  await archiveJobTemplate(ours.admin, { id })
  expect(await restoreJobTemplate(ours.admin, { id, version: 1 })).toMatchObject({
    forks: 5,
    description: '',
    version: 3,
    archivedAt: null,
  })
  expect((await history(id)).map((v) => v.reason)).toEqual([null, null, 'Restored version 1.'])
  await expect(restoreJobTemplate(ours.admin, { id, version: 9 })).rejects.toMatchObject({ code: 'NOT_FOUND' })
})

test('rejects changes of built-in templates', async () => {
  const template = await t.runtime.db.query.jobTemplates.findFirst({ where: { tenantId: ours.tenant.id, name: 'collect_facts' } })
  for (const write of [updateJobTemplate, archiveJobTemplate, restoreJobTemplate])
    await expect(write(ours.admin, { id: template!.id })).rejects.toThrow(/is shipped with Muster/)
  expect(await history(template!.id)).toMatchObject([{ version: 1, createdByName: 'Muster', snapshot: { isReadOnly: true } }])
})

test('stores a bundle once, and a template names a playbook in it', async () => {
  const content = zip([{ path: 'site.yml', text: '[]' }, { path: 'roles/a/tasks/main.yml' }])
  const bundle = await uploadPlaybookBundle(ours.admin, { name: 'site.zip', content })
  expect(bundle).toMatchObject({
    name: 'site.zip',
    size: content.length,
    files: [
      { path: 'roles/a/tasks/main.yml', size: 0 },
      { path: 'site.yml', size: 2 },
    ],
  })
  expect(bundle).not.toHaveProperty('content')
  expect(await uploadPlaybookBundle(ours.owner, { name: 'again.zip', content })).toMatchObject({
    id: bundle.id,
    name: 'site.zip',
  })
  const other = await uploadPlaybookBundle(stranger.admin, { name: 'site.zip', content })
  expect(other.id).not.toBe(bundle.id)

  expect(await make({ source: 'bundle', bundleId: bundle.id, playbookPath: 'site.yml' })).toMatchObject({ bundleId: bundle.id })
  await expect(make({ source: 'bundle', bundleId: bundle.id, playbookPath: 'play.yml' })).rejects.toMatchObject({
    issues: [{ path: 'playbookPath', message: 'is not in the bundle; it holds site.yml' }],
  })
  await expect(make({ source: 'bundle', bundleId: other.id, playbookPath: 'site.yml' })).rejects.toMatchObject({
    issues: [{ path: 'bundleId' }],
  })
})

test('a run copies version and source, has defaults, and stores secrets only encrypted', async () => {
  const [node] = await t.given.fleet(ours.operator, { prefix: 'vars', with: { connectionType: 'local' } })
  const inputSchema = {
    type: 'object',
    properties: { level: { type: 'integer', minimum: 1, default: 3 }, key: { type: 'string', 'x-secret': true }, note: {} },
    required: ['key'],
  }
  const { name, id } = await make({ inputSchema, defaultVars: { note: 'from the template' } })
  const start = (extraVars: Record<string, unknown>) => runJob(ours.operator, { template: name, nodeIds: [node!.id], extraVars })
  await expect(start({ level: 0 })).rejects.toMatchObject({
    issues: [
      { path: 'extraVars.key', message: 'is missing' },
      { path: 'extraVars.level', message: 'must be >= 1' },
    ],
  })
  await expect(start({ key: 'abc' })).rejects.toThrow(/at least 4 characters/)
  const run = await start({ key: 'swordfish' })
  await updateJobTemplate(ours.admin, { id, playbookPath: 'collect_facts.yml' })
  expect(run).toMatchObject({ templateVersion: 1, source: 'shipped', extraVars: { level: 3, note: 'from the template' } })
  const [kept] = await t.runtime.db.select().from(schema.runSecrets).where(eq(schema.runSecrets.id, run.secretsId!))
  expect(JSON.stringify([run, kept])).not.toContain('swordfish')
  const place = { tenantId: ours.tenant.id, objectId: kept!.id, field: 'key' }
  expect(await t.runtime.vault.open(place, kept!.encrypted.key!)).toBe('swordfish')
})

test('deletes a bundle when no template version and no run refers to it', async () => {
  const upload = (text: string) =>
    uploadPlaybookBundle(ours.admin, { name: 'gone.tgz', content: tarGz([{ path: 'site.yml', text }]) })
  const [used, later] = [await upload('- hosts: all # 1\n'), await upload('- hosts: all # 2\n')]
  const template = await make({ source: 'bundle', bundleId: used.id, playbookPath: 'site.yml' })
  await updateJobTemplate(ours.admin, { id: template.id, bundleId: later.id })
  await expect(deletePlaybookBundle(ours.admin, { id: used.id })).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringMatching(`is in use by template ${template.name} \\(version 1\\)\\. `),
  })
  const free = await upload('- hosts: all # 3\n')
  await expect(deletePlaybookBundle(ours.operator, { id: free.id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(deletePlaybookBundle(stranger.admin, { id: free.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect(await deletePlaybookBundle(ours.admin, { id: free.id })).toEqual({ id: free.id })
  await expect(deletePlaybookBundle(ours.admin, { id: free.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  expect((await upload('- hosts: all # 3\n')).id).not.toBe(free.id)
})

test('a new reference to a bundle and its deletion are serialized', async () => {
  for (let i = 0; i < 20; i++) {
    const { id } = await uploadPlaybookBundle(ours.admin, {
      name: 'race.tgz',
      content: tarGz([{ path: 'site.yml', text: `- hosts: all # race ${i}\n` }]),
    })
    const [creation, deletion] = await Promise.allSettled([
      make({ source: 'bundle', bundleId: id, playbookPath: 'site.yml' }),
      deletePlaybookBundle(ours.admin, { id }),
    ])
    expect([creation.status, deletion.status].sort()).toEqual(['fulfilled', 'rejected'])
    if (creation.status === 'rejected') expect(creation.reason).toMatchObject({ issues: [{ path: 'bundleId' }] })
  }
})

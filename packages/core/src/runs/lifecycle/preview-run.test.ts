import { afterAll, beforeAll, expect, test } from 'vitest'
import { createNodeGroup, setNodeGroupMembers } from '../../groups/index.ts'
import { setNodeMaintenance } from '../../node-states/index.ts'
import { createJobTemplate } from '../../templates/index.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { setSecretVar, setVars } from '../../variables/index.ts'
import { previewInventory, previewRun } from './preview-run.ts'
import { runJob } from './run-job.ts'

let t: TestRuntime
let ours: TenantFixture
let ids: string[]
beforeAll(async () => {
  t = await testRuntime()
  ours = await t.given.tenant()
  const credential = await t.given.credential(ours.admin, 'SSH_KEY')
  const nodes = await t.given.fleet(ours.operator, {
    nodes: 3,
    with: (i) => ({ credentialId: credential.id, hostKey: i === 2 ? null : 'ssh-ed25519 AAAA' }),
  })
  ids = nodes.map((node) => node.id)
  const group = await createNodeGroup(ours.operator, { name: 'room' })
  await setNodeGroupMembers(ours.operator, { id: group.id, addNodeIds: ids.slice(0, 1) })
  await setVars(ours.operator, { text: 'level: 1\nplace: here', basedOn: 0 })
  await setVars(ours.operator, { groupId: group.id, text: 'level: 2', basedOn: 0 })
  await setSecretVar(ours.operator, { name: 'token', value: 'swordfish' })
  await createJobTemplate(ours.admin, {
    name: 'change',
    playbookPath: 'change.yml',
    become: true,
    jobTags: ['driver'],
    defaultVars: { place: 'there' },
    inputSchema: {
      type: 'object',
      properties: { key: { type: 'string', 'x-secret': true }, size: { type: 'integer', default: 4 } },
    },
  })
})
afterAll(() => t?.close())

const preview = (input: Partial<Parameters<typeof previewRun>[1]> = {}) =>
  previewRun(ours.operator, { template: 'change', limit: 'all', extraVars: { key: 'sesame' }, ...input })

test('shows hosts, the origin of each variable, command line and inventory, without secrets', async () => {
  const run = await preview({ diffMode: true, forks: 3 })
  expect(run.command).toEqual(
    'ansible-playbook -i inventory.yml -e @extra-vars.yml --forks 3 --become --diff --tags=driver change.yml'.split(' '),
  )
  expect(run).toMatchObject({ extraVars: { place: 'there', size: 4 }, secretVars: ['key'], waitsFor: [] })
  const [first] = run.hosts
  expect(first).toMatchObject({ node: { name: 'gpu001' }, groups: ['room'], blockedReason: null })
  expect(first!.vars.find(({ name }) => name === 'level')).toMatchObject({
    value: 2,
    layer: 'group',
    group: 'room',
    overridden: [{ value: 1, layer: 'global' }],
  })
  expect(first!.vars.find(({ name }) => name === 'place')).toMatchObject({ value: 'there', layer: 'run' })
  expect(previewInventory(run)).toMatchObject({
    _meta: { hostvars: { gpu001: { level: 2, token: null, ansible_connection: 'ssh' }, gpu002: { level: 1 } } },
    all: { hosts: ['gpu001', 'gpu002', 'gpu003'], children: ['room'] },
    room: { hosts: ['gpu001'] },
  })
  expect(JSON.stringify([run, previewInventory(run)])).not.toMatch(/sesame|swordfish/)
  expect(await t.runtime.db.query.jobRuns.findMany()).toEqual([])
})

test('shows why each host is rejected and which runs it would wait for', async () => {
  await setNodeMaintenance(ours.operator, { id: ids[1]!, isOn: true })
  expect((await preview()).hosts.map((host) => host.blockedReason)).toEqual([
    null,
    expect.stringMatching(/maintenance/),
    expect.stringMatching(/no approved host key/),
  ])
  const other = await runJob(ours.operator, { template: 'change', nodeIds: [ids[0]!] })
  expect((await preview()).waitsFor).toMatchObject([{ runId: other.id, templateName: 'change', hosts: ['gpu001'] }])
  expect((await preview({ checkMode: true })).waitsFor).toEqual([])
})

test('rejects the same invalid input as runJob', async () => {
  await expect(preview({ template: 'nothing' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(preview({ limit: 'nobody' })).rejects.toMatchObject({ issues: [{ path: 'limit' }] })
  await expect(preview({ extraVars: { size: 'large' } })).rejects.toMatchObject({ issues: [{ path: 'extraVars.size' }] })
  await expect(previewRun(ours.viewer, { template: 'change', limit: 'all' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
})

test('rejects unknown nodes as runJob does', async () => {
  const issues = [{ path: 'limit', message: 'no node matches' }]
  await expect(preview({ limit: 'tag:nobody' })).rejects.toMatchObject({ issues })
  await expect(runJob(ours.operator, { template: 'change', limit: 'tag:nobody' })).rejects.toMatchObject({ issues })
})

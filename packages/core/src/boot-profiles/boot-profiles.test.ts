import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createNodeGroup, deleteNodeGroup, setNodeGroupMembers } from '../groups/index.ts'
import { outboundSettings } from '../kernel/outbound/index.ts'
import { decommissionNode } from '../node-states/index.ts'
import { type ComputeNode, computeNodes, recommissionNode } from '../nodes/index.ts'
import { makeKeyPair, type TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import {
  assignBootProfile,
  type BootProfile,
  bootProfileVersions,
  createBootProfile,
  deleteBootProfile,
  effectiveBootProfiles,
  resolveBootProfiles,
  restoreBootProfile,
  unassignBootProfile,
  unknownBootProfile,
  updateBootProfile,
} from './index.ts'

const KERNEL = { url: 'http://10.0.0.1/vmlinuz' }

let t: TestRuntime
let ours: TenantFixture
let nodes: ComputeNode[]
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())
beforeEach(async () => {
  ours = await t.given.tenant()
  nodes = await t.given.fleet(ours.admin, { nodes: 3, with: { arch: 'x86_64' } })
})

type Fields = Partial<Parameters<typeof createBootProfile>[1]>
const create = (name: string, fields: Fields = {}) => createBootProfile(ours.admin, { name, kernel: KERNEL, ...fields })
const effective = async (node: ComputeNode) => (await effectiveBootProfiles(ours.viewer, [node.id])).get(node.id)!
const winner = async (node: ComputeNode) => (await effective(node)).profile?.name ?? null
const assign = (profile: BootProfile, targets: Omit<Parameters<typeof assignBootProfile>[1], 'profileId'>) =>
  assignBootProfile(ours.operator, { profileId: profile.id, ...targets })
const issueOf = (fields: Fields) =>
  create('wrong', fields).then(
    () => null,
    (error) => (error.issues ? `${error.issues[0].path}: ${error.issues[0].message}` : String(error)),
  )

describe('a profile', () => {
  test('has numbered versions, and a restore is a new version', async () => {
    const first = await create('compute', { arch: 'amd64' as 'x86_64', kernelParams: ['quiet'], comment: 'first' })
    expect(first).toMatchObject({ version: 1, content: { arch: 'x86_64', kernel: { ...KERNEL, checksum: null } } })
    const second = await updateBootProfile(ours.admin, { id: first.id, version: 1, kernelParams: ['debug'], comment: 'why' })
    expect(second).toMatchObject({ version: 2, content: { ...first.content, kernelParams: ['debug'] } })
    const same = await updateBootProfile(ours.admin, { id: first.id, version: 2, kernelParams: ['debug'] })
    expect(same).toEqual(second)
    const stale = updateBootProfile(ours.operator, { id: first.id, version: 1, kernel: null })
    await expect(stale).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(updateBootProfile(ours.admin, { id: first.id, version: 1, kernel: null })).rejects.toThrow(
      /admin of .* changed the boot profile compute meanwhile: it has version 2, your change is based on 1/,
    )
    const third = await restoreBootProfile(ours.admin, { id: first.id, version: 2, number: 1 })
    expect(third).toMatchObject({ version: 3, content: first.content })
    const history = await t.runtime.db
      .select()
      .from(bootProfileVersions)
      .where(eq(bootProfileVersions.profileId, first.id))
      .orderBy(bootProfileVersions.number)
    expect(history.map(({ number, comment, content }) => [number, comment, content.kernelParams])).toEqual([
      [1, 'first', ['quiet']],
      [2, 'why', ['debug']],
      [3, 'Restored version 1.', ['quiet']],
    ])
    await expect(restoreBootProfile(ours.admin, { id: first.id, version: 3, number: 9 })).rejects.toThrow(/has no version 9/)
    await expect(create('compute')).rejects.toThrow(/already a boot profile named compute/)
  })

  test('of two concurrent changes, one fails', async () => {
    const { id } = await create('compute')
    const outcomes = await Promise.allSettled(
      ['a', 'b'].map((param) => updateBootProfile(ours.admin, { id, version: 1, kernelParams: [param] })),
    )
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('inherits from one parent, and the resolved profile names where each value comes from', async () => {
    const [ours1, theirs] = [makeKeyPair().public, makeKeyPair().public]
    const root = await create('base', {
      kernelParams: ['console=tty0', 'console=ttyS0', 'quiet', 'rd.break=pre-mount'],
      initrds: [{ url: 'http://10.0.0.1/a.img' }],
      adminUser: 'ops',
      sshKeys: [ours1],
      userData: '#cloud-config\npackages: [chrony]\n',
      networkConfig: 'version: 2\n',
    })
    const child = await create('gpu', {
      parentId: root.id,
      kernel: { url: 'http://10.0.0.1/gpu', checksum: `SHA256:${'A'.repeat(64)}` },
      initrds: [],
      kernelParams: ['console=ttyS1', 'rd-break', 'iommu=pt'],
      sshKeys: [`${ours1.split(' ', 2).join(' ')} other`, theirs],
      userData: '#!/bin/sh\ntrue\n',
    })
    const resolved = (await resolveBootProfiles(ours.viewer, [child.id])).get(child.id)!
    const [base, gpu] = [root, child].map(({ id, name, version }) => ({ id, name, version }))
    expect(resolved).toMatchObject({
      chain: [base, gpu],
      kernel: { value: { checksum: `sha256:${'a'.repeat(64)}` }, profile: gpu },
      initrds: { value: [], profile: gpu },
      adminUser: { value: 'ops', profile: base },
      networkConfig: { value: 'version: 2\n', profile: base },
      arch: null,
      problems: [],
    })
    expect(resolved.kernelParams.map(({ value, profile }) => [value, profile.name])).toEqual([
      ['quiet', 'base'],
      ['rd.break=pre-mount', 'base'],
      ['console=ttyS1', 'gpu'],
      ['rd-break', 'gpu'],
      ['iommu=pt', 'gpu'],
    ])
    expect(resolved.sshKeys.map(({ profile }) => profile.name)).toEqual(['base', 'gpu'])
    expect(resolved.userData.map(({ profile }) => profile.name)).toEqual(['base', 'gpu'])
    expect(resolved.overridden.map(({ field, value }) => [field, value])).toEqual(
      expect.arrayContaining([
        ['kernelParams', 'console=tty0'],
        ['kernelParams', 'console=ttyS0'],
        ['kernel', { ...KERNEL, checksum: null }],
      ]),
    )
    // The revision depends on the values only.
    const copy = await createBootProfile(ours.admin, { name: 'copy', parentId: child.id })
    expect((await resolveBootProfiles(ours.viewer, [copy.id])).get(copy.id)!.revision).toBe(resolved.revision)
    await updateBootProfile(ours.admin, { id: root.id, version: 1, kernelParams: [] })
    expect((await resolveBootProfiles(ours.viewer, [copy.id])).get(copy.id)!.revision).not.toBe(resolved.revision)
  })

  test('cannot inherit from itself or its descendants, also when two changes race', async () => {
    const a = await create('a')
    const b = await create('b', { parentId: a.id })
    const c = await create('c', { parentId: b.id })
    await expect(updateBootProfile(ours.admin, { id: a.id, version: 1, parentId: c.id })).rejects.toThrow(
      /parentId: c inherits from a; this would create a cycle/,
    )
    await expect(updateBootProfile(ours.admin, { id: a.id, version: 1, parentId: a.id })).rejects.toThrow(/is the profile itself/)
    const [x, y] = [await create('x'), await create('y')]
    const outcomes = await Promise.allSettled([
      updateBootProfile(ours.admin, { id: x.id, version: 1, parentId: y.id }),
      updateBootProfile(ours.admin, { id: y.id, version: 1, parentId: x.id }),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    let last = c
    for (let i = 0; i < 5; i++) last = await create(`deep${i}`, { parentId: last.id })
    await expect(create('deeper', { parentId: last.id })).rejects.toThrow(/at most 8 levels/)
    await expect(updateBootProfile(ours.admin, { id: a.id, version: 1, parentId: x.id })).rejects.toThrow(/at most 8 levels/)
  })

  test('is not deleted while it has children or assignments, which the reason names', async () => {
    const base = await create('base')
    const gpu = await create('gpu', { parentId: base.id })
    await expect(deleteBootProfile(ours.admin, { id: base.id })).rejects.toThrow(/base is the parent of gpu; give it another/)
    const group = await createNodeGroup(ours.admin, { name: 'racks' })
    await assign(gpu, { nodeIds: [nodes[0]!.id], groupIds: [group.id], allNodes: true })
    await expect(deleteBootProfile(ours.admin, { id: gpu.id })).rejects.toThrow(
      'The boot profile gpu is assigned to all nodes, the group racks, the node gpu001; unassign it first.',
    )
    await unassignBootProfile(ours.operator, { profileId: gpu.id, nodeIds: [nodes[0]!.id], groupIds: [group.id], allNodes: true })
    await deleteBootProfile(ours.admin, { id: gpu.id })
    await deleteBootProfile(ours.admin, { id: base.id })
    await expect(deleteBootProfile(ours.admin, { id: base.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  test.each<[string, Fields]>([
    ['parentId: there is no boot profile', { parentId: crypto.randomUUID() }],
    ['arch: must be x86_64 or aarch64', { arch: 'riscv64' as 'x86_64' }],
    ['kernel.url: must be an http', { kernel: { url: 'file:///etc/shadow' } }],
    ['kernel.url: must be an http', { kernel: { url: 'http://user:pass@10.0.0.1/k' } }],
    ['kernel.url: 127.0.0.1 is at 127.0.0.1', { kernel: { url: 'http://127.0.0.1/k' } }],
    ['initrds.1.url: 169.254.169.254 is at', { initrds: [KERNEL, { url: 'http://169.254.169.254/latest' }] }],
    ['rootImage.checksum: must be sha256:', { rootImage: { ...KERNEL, checksum: 'md5:00' } }],
    ['kernelParams.0: must be name', { kernelParams: ['a b'] }],
    ['kernelParams.0: must be one line', { kernelParams: ['a\nboot'] }],
    ['kernelParams: must have at most 2048', { kernelParams: ['a'.repeat(2000), 'b'.repeat(100)] }],
    ['sshKeys.0: must be a public key', { sshKeys: ['command="x" ssh-ed25519 AAAA'] }],
    ['sshKeys.0: is not a complete key', { sshKeys: ['ssh-ed25519 AAAAC3NzaC1lZDI1NTE5'] }],
    ['userData: must begin with', { userData: 'packages: []' }],
    ['userData: line 3, column 1: the key packages occurs twice', { userData: '#cloud-config\npackages: []\npackages: []\n' }],
    ['vendorData: must be a YAML mapping', { vendorData: '#cloud-config\n- a\n' }],
    ['userData: line 2', { userData: '#cloud-config\na: !!python/object:os.system x\n' }],
    [
      'userData: contains a private key',
      { userData: `#cloud-config\na: |\n ${makeKeyPair().private.split('\n').join('\n ')}\n` },
    ],
    ['networkConfig: must have `version: 1`', { networkConfig: 'ethernets: {}' }],
    ['networkConfig: version 1 must have', { networkConfig: 'network:\n  version: 1\n' }],
  ])('%s', async (message, fields) => {
    expect(await issueOf(fields)).toContain(message)
  })

  test.each([
    '#!/bin/sh\n',
    '#cloud-config # ours\na: 1',
    '#cloud-config-archive\n- a\n',
    '## template: jinja\n#cloud-config\n{{ x }}',
    ' \n',
  ])('accepts the user-data %j', async (userData) => expect(await issueOf({ userData })).toBe(null))

  test('accepts private addresses, listed local addresses, quoted values and all formats of cloud-init', async () => {
    const listed = outboundSettings.LOCAL_TARGETS.parse('127.0.0.1:8080')
    const local = { name: 'lab', kernel: { url: 'http://127.0.0.1:8080/k' } }
    expect((await createBootProfile(ours.admin, local, listed)).content.kernel!.url).toBe(local.kernel.url)
    expect(await issueOf({ kernel: { url: 'tftp://10.0.0.1/k' }, kernelParams: ['root="a b"', 'init=/bin/sh', 'ro'] })).toBe(null)
  })
})

describe('the effective profile', () => {
  test('prefers node, groups, all nodes; then the lower number; then the name; and explains what lost', async () => {
    const [a, b, c, d] = [await create('a'), await create('b'), await create('c'), await create('d')]
    const [node, other] = nodes as [ComputeNode, ComputeNode]
    expect(await effective(node)).toEqual({
      profile: null,
      candidates: [],
      reason: 'No boot profile is assigned to the node gpu001, its groups or all nodes.',
    })
    await assign(d, { allNodes: true, priority: 0 })
    expect(await winner(node)).toBe('d')
    const parent = await createNodeGroup(ours.admin, { name: 'parent' })
    const group = await createNodeGroup(ours.admin, { name: 'racks', parentId: parent.id })
    const query = await createNodeGroup(ours.admin, { name: 'by_query', memberQuery: 'name = gpu001' })
    await setNodeGroupMembers(ours.admin, { id: group.id, addNodeIds: [node.id] })
    await assign(c, { groupIds: [parent.id], priority: 50 })
    await assign(b, { groupIds: [query.id], priority: 50 })
    expect(await winner(node)).toBe('b')
    expect(await winner(other)).toBe('d')
    await assign(c, { groupIds: [parent.id], priority: 49 })
    expect(await winner(node)).toBe('c')
    await assign(a, { nodeIds: [node.id], priority: 900 })
    const { profile, candidates } = await effective(node)
    expect(profile!.name).toBe('a')
    expect(candidates.map((each) => [each.profile.name, each.target, each.group?.name ?? null, each.lostReason])).toEqual([
      ['a', 'NODE', null, null],
      ['c', 'GROUP', 'parent', 'a is assigned to the node itself, which comes first.'],
      ['b', 'GROUP', 'by_query', 'a is assigned to the node itself, which comes first.'],
      ['d', 'ALL_NODES', null, 'a is assigned to the node itself, which comes first.'],
    ])
    await unassignBootProfile(ours.operator, { profileId: a.id, nodeIds: [node.id] })
    expect((await effective(node)).candidates.map(({ lostReason }) => lostReason)).toEqual([
      null,
      'c has the priority 49; the lower number wins over 50.',
      'c is assigned to a group, which comes first.',
    ])
    await assign(c, { groupIds: [parent.id], priority: 50 })
    expect((await effective(node)).candidates[1]!.lostReason).toBe('b has the same priority, 50, and comes first by name.')
    // Assigning again without a priority keeps it.
    await assign(c, { groupIds: [parent.id] })
    expect(await winner(node)).toBe('b')
    await deleteNodeGroup(ours.admin, { id: query.id })
    expect(await winner(node)).toBe('c')
  })

  test('merges profiles without a kernel: all nodes, groups, then the node, each with its origin', async () => {
    const [node, other] = nodes as [ComputeNode, ComputeNode]
    const [low, high] = [await createNodeGroup(ours.admin, { name: 'low' }), await createNodeGroup(ours.admin, { name: 'high' })]
    for (const { id } of [low, high]) await setNodeGroupMembers(ours.admin, { id, addNodeIds: [node.id] })
    const part = (name: string) => `#cloud-config\nruncmd: [echo ${name}]\n`
    const add = (name: string, fields: Fields = {}) =>
      create(name, { kernel: null, userData: part(name), kernelParams: [`console=${name}`, name], ...fields })
    const site = await add('site', { adminUser: 'site', networkConfig: 'version: 2\n', rootImage: KERNEL, initrds: [KERNEL] })
    const compute = await create('compute', { parentId: site.id, userData: part('compute'), rootImage: null })
    await assign(site, { allNodes: true })
    await assign(compute, { groupIds: [high.id], priority: 10 })
    await assign(await create('older'), { allNodes: true })
    await assign(await add('first', { arch: 'aarch64' }), { nodeIds: [node.id] })
    await assign(await add('row', { adminUser: 'row' }), { groupIds: [low.id], priority: 90 })
    const own = await add('own', { vendorData: part('own') })
    await assign(own, { nodeIds: [node.id], groupIds: [low.id] })
    const { profile, candidates } = await effective(node)
    expect(profile).toMatchObject({ name: 'compute', kernel: { value: { url: KERNEL.url } } })
    expect(profile!.userData.map(({ value, profile }) => [value, profile.name])).toEqual(
      ['row', 'site', 'compute', 'own'].map((name) => [part(name), name]),
    )
    expect(profile!.kernelParams.map(({ value }) => value)).toEqual(['row', 'site', 'console=own', 'own'])
    // The profile of the nearer group inherits it, which wins over the addition of the farther group.
    expect(profile!.adminUser).toMatchObject({ value: 'site', profile: { name: 'site' } })
    expect(profile!.vendorData.map(({ profile }) => profile.name)).toEqual(['own'])
    expect(candidates.map((each) => [each.profile.name, each.target, each.isAddition, each.lostReason])).toEqual([
      ['compute', 'GROUP', false, null],
      ['own', 'NODE', true, null],
      ['row', 'GROUP', true, null],
      ['site', 'ALL_NODES', true, null],
      ['own', 'GROUP', false, 'own is assigned to the node itself, which comes first.'],
      ['older', 'ALL_NODES', false, 'compute is assigned to a group, which comes first.'],
      ['first', 'NODE', false, 'It is for aarch64; the machine is x86_64.'],
    ])
    // Another node has only those of all nodes.
    const rest = await effective(other)
    expect(rest.profile).toMatchObject({ name: 'older', adminUser: { value: 'site' }, rootImage: null, initrds: null })
    expect(rest.profile!.overridden.map(({ field, profile }) => [field, profile.name])).toEqual([
      ['initrds', 'site'],
      ['rootImage', 'site'],
    ])
    // Equal additions are one object.
    const both = await effectiveBootProfiles(ours.viewer, [other.id, nodes[2]!.id])
    expect(both.get(other.id)!.profile).toBe(both.get(nodes[2]!.id)!.profile)
  })

  test('has the values of the nearer profile, also when a farther one has the same parent', async () => {
    const base = await create('base', { adminUser: 'base' })
    const extra = await create('extra', { parentId: null, kernel: null, adminUser: 'extra' })
    const far = await create('far', { kernel: null, parentId: extra.id, adminUser: 'far' })
    await assign(await create('near', { parentId: base.id }), { nodeIds: [nodes[0]!.id] })
    await assign(far, { allNodes: true })
    await assign(await create('close', { kernel: null, parentId: extra.id }), { nodeIds: [nodes[0]!.id] })
    const { profile } = await effective(nodes[0]!)
    expect(profile).toMatchObject({ name: 'near', adminUser: { value: 'extra' } })
    expect(profile!.chain.map(({ name }) => name)).toEqual(['far', 'base', 'near', 'extra', 'close'])
  })

  test('has its own files, also when a nearer addition has the same parent', async () => {
    const base = await create('base', { kernel: null, rootImage: { url: 'http://10.0.0.1/base' } })
    const compute = await create('compute', { parentId: base.id, rootImage: { url: 'http://10.0.0.1/compute' } })
    await assign(compute, { allNodes: true })
    await assign(await create('extra', { kernel: null, parentId: base.id }), { nodeIds: [nodes[0]!.id] })
    const { profile } = await effective(nodes[0]!)
    expect(profile!.chain.map(({ name }) => name)).toEqual(['compute', 'base', 'extra'])
    expect(profile!.rootImage).toMatchObject({ value: { url: 'http://10.0.0.1/compute' }, profile: { name: 'compute' } })
  })

  test('has no kernel when only additions apply, and at most 20 are merged', async () => {
    for (let i = 0; i < 22; i++)
      await assign(await create(`a${String(i).padStart(2, '0')}`, { kernel: null, kernelParams: [`p${i}`] }), { allNodes: true })
    const { profile, candidates } = await effective(nodes[0]!)
    expect(profile).toMatchObject({ name: 'a00', kernel: null, problems: [expect.stringContaining('No kernel URL')] })
    expect(profile!.kernelParams).toHaveLength(21)
    expect(candidates.at(-1)).toMatchObject({ profile: { name: 'a21' }, lostReason: 'At most 20 profiles are added.' })
  })

  test('is one for the architecture of the node, own or inherited', async () => {
    const arm = await create('arm', { arch: 'aarch64' })
    const child = await createBootProfile(ours.admin, { name: 'arm-child', parentId: arm.id })
    const intel = await create('intel', { arch: 'x86_64' })
    const [node] = nodes as [ComputeNode]
    await assign(child, { nodeIds: [node.id] })
    expect(await effective(node)).toMatchObject({
      profile: null,
      reason: 'No assigned boot profile fits: arm-child: It is for aarch64; the machine is x86_64.',
    })
    await assign(intel, { allNodes: true })
    expect(await winner(node)).toBe('intel')
    const reported = await effectiveBootProfiles(ours.viewer, [node.id], new Map([[node.id, 'aarch64']]))
    expect(reported.get(node.id)!.profile!.name).toBe('arm-child')
    await t.runtime.db.update(computeNodes).set({ arch: null }).where(eq(computeNodes.id, node.id))
    expect(await winner(node)).toBe('arm-child')
  })

  test('of unknown machines is by architecture, and never the one for all nodes', async () => {
    const [all, arm, intel] = [
      await create('all'),
      await create('arm', { arch: 'aarch64' }),
      await create('intel', { arch: 'x86_64' }),
    ]
    await assign(all, { allNodes: true })
    expect(await unknownBootProfile(ours.viewer, 'x86_64')).toMatchObject({ profile: null })
    await assign(arm, { unknownMachines: true })
    await assign(intel, { unknownMachines: true })
    expect((await unknownBootProfile(ours.viewer, 'x86_64')).profile!.name).toBe('intel')
    expect((await unknownBootProfile(ours.viewer, 'aarch64')).profile!.name).toBe('arm')
    expect(await winner(nodes[0]!)).toBe('all')
  })

  test('is none for a decommissioned node, to which nothing can be assigned, until it is recommissioned', async () => {
    const profile = await create('compute')
    const [node] = nodes as [ComputeNode]
    await assign(profile, { nodeIds: [node.id], allNodes: true })
    await decommissionNode(ours.operator, { id: node.id })
    expect(await effective(node)).toEqual({
      profile: null,
      candidates: [],
      reason: 'The node gpu001 is decommissioned; recommission it first.',
    })
    await expect(assign(profile, { nodeIds: [node.id] })).rejects.toThrow(/the node gpu001 is decommissioned/)
    await recommissionNode(ours.operator, { id: node.id })
    expect(await winner(node)).toBe('compute')
  })

  test('takes the same number of statements for one node and for many', async () => {
    const profile = await create('compute')
    const group = await createNodeGroup(ours.admin, { name: 'racks', memberQuery: 'status = READY' })
    await assign(profile, { groupIds: [group.id] })
    const many = await t.given.fleet(ours.admin, { nodes: 300, prefix: 'many' })
    await assign(profile, { nodeIds: many.map(({ id }) => id), priority: 3 })
    const counted = async (ids: string[]) => {
      let statements = 0
      const count = <T extends object>(object: T): T =>
        new Proxy(object, {
          get(target, key) {
            if (key === 'select') statements++
            const value = Reflect.get(target, key)
            return typeof value === 'function' ? value.bind(target) : value
          },
        })
      const found = await effectiveBootProfiles({ tenantId: ours.tenant.id, db: count(ours.viewer.db) }, ids)
      expect([...found.values()].filter((each) => each.profile?.name === 'compute')).toHaveLength(ids.length)
      return statements
    }
    const one = await counted([nodes[0]!.id])
    expect(one).toBe(5)
    expect(await counted(many.map(({ id }) => id))).toBe(one)
  })
})

test('needs the permission, and profiles, nodes and groups of the tenant', async () => {
  const profile = await create('compute')
  const theirs = await t.given.tenant()
  const [foreign] = await t.given.fleet(theirs.admin)
  const group = await createNodeGroup(theirs.admin, { name: 'racks' })
  await expect(createBootProfile(ours.operator, { name: 'x' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(assignBootProfile(ours.viewer, { profileId: profile.id, allNodes: true })).rejects.toMatchObject({
    code: 'FORBIDDEN',
  })
  const change = { id: profile.id, version: 1 }
  await expect(updateBootProfile(theirs.admin, { ...change, arch: 'x86_64' })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(restoreBootProfile(theirs.admin, { ...change, number: 1 })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(deleteBootProfile(theirs.admin, { id: profile.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
  await expect(createBootProfile(theirs.admin, { name: 'child', parentId: profile.id })).rejects.toThrow(
    /there is no boot profile/,
  )
  await expect(assignBootProfile(theirs.admin, { profileId: profile.id, allNodes: true })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
  await expect(assign(profile, { nodeIds: [foreign!.id] })).rejects.toThrow(/nodeIds.0: there is no node/)
  await expect(assign(profile, { groupIds: [group.id] })).rejects.toThrow(/groupIds.0: there is no group/)
  await expect(assign(profile, {})).rejects.toThrow(/name nodes or groups/)
  expect((await resolveBootProfiles(theirs.viewer, [profile.id])).size).toBe(0)
  expect((await effectiveBootProfiles(theirs.viewer, [nodes[0]!.id])).size).toBe(0)
})

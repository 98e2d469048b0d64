import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { assignBootProfile, createBootProfile } from '@muster/core/boot-profiles'
import { createNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import { type ComputeNode, computeNodes, setNodeBmc, updateNode } from '@muster/core/nodes'
import type { Ctx } from '@muster/core/registry'
import { hostVariables, readInventory, setSecretVar, setVars, varsOfNodes } from '@muster/core/variables'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inventory } from '../../../worker/src/ansible/run-directory/run-files.ts'
import { testApi } from '../testing/api.ts'
import { countStatements } from '../testing/count-statements.ts'
import { type HttpServer, serveHttp } from './server.ts'

type Listed = { _meta: { hostvars: Record<string, Record<string, unknown>> } } & Record<
  string,
  { hosts?: string[]; children?: string[] }
>

const PLUGINS = path.resolve(import.meta.dirname, '../../../../playbooks/plugins')
const folder = mkdtempSync(path.join(tmpdir(), 'muster-inventory-'))
const canary = path.join(folder, 'canary')

let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
let url: string
let operator: Ctx
let viewer: Ctx
let nodes: ComputeNode[]
beforeAll(async () => {
  t = await testApi()
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
  url = `http://127.0.0.1:${server.port}`
  const fixture = await t.given.tenant()
  operator = fixture.operator
  viewer = fixture.viewer
  const { admin } = fixture
  nodes = await t.given.fleet(operator, {
    nodes: 5,
    accelerators: 2,
    with: (i) =>
      [
        { tags: ['prod'], discoveredAt: new Date() },
        { sshUser: null },
        { maintenanceAt: new Date() },
        { connectionType: 'local' as const },
        {},
      ][i]!,
  })
  const [one, two] = nodes as [ComputeNode, ComputeNode]
  const key = await t.given.credential(admin, 'SSH_KEY', { username: 'lab' })
  const outer = await t.given.credential(admin, 'BASTION', { host: 'outer.test', username: 'jump' })
  const inner = await t.given.credential(admin, 'BASTION', { host: 'fd00::1', port: 2222, username: 'jump', viaId: outer.id })
  await updateNode(operator, { id: two.id, credentialId: key.id, bastionId: inner.id })
  await updateNode(operator, {
    id: one.id,
    ...{ xname: 'x1000c0s0b0n0', nid: 7, rack: '{{ 1 + 1 }}', rackPosition: 'U07', managementIp: '10.9.0.1' },
    interfaces: [
      { name: 'eth0', mac: '02:00:5e:10:00:01', isBoot: true, addresses: [{ address: '10.0.0.1', network: 'mgmt' }] },
      { name: 'eth1', mac: '02:00:5e:10:00:02' },
    ],
  })
  await t.runtime.db.update(computeNodes).set({ arch: 'x86_64' }).where(eq(computeNodes.id, one.id))
  const bmc = await t.given.credential(admin, 'BMC')
  await setNodeBmc(admin, { nodeId: one.id, address: '10.8.0.1', protocol: 'REDFISH', credentialId: bmc.id })
  const profile = await createBootProfile(admin, { name: 'debian' })
  await assignBootProfile(admin, { profileId: profile.id, nodeIds: [one.id] })
  const site = await createNodeGroup(operator, { name: 'site' })
  const room = await createNodeGroup(operator, { name: 'room', parentId: site.id })
  await createNodeGroup(operator, { name: 'prod', memberQuery: 'tag = prod', priority: 1 })
  await createNodeGroup(operator, { name: 'nobody' })
  await setNodeGroupMembers(operator, { id: room.id, addNodeIds: [one.id, two.id] })
  const evil = `{{ lookup('pipe', 'touch ${canary}') }}`
  const header = `#jinja2: variable_start_string:'[[', variable_end_string:']]'\n[[ lookup('pipe', 'touch ${canary}') ]]`
  await setVars(operator, {
    text: JSON.stringify({
      level: 'global',
      text: evil,
      nested: { list: [evil, 1, 2.5, null, true], [`${evil}`]: { deep: header } },
      header,
    }),
    basedOn: 0,
  })
  await setVars(operator, { groupId: site.id, text: 'level: site\nport: 1', basedOn: 0 })
  await setVars(operator, { groupId: room.id, text: 'level: room\nlist: [a, ü]', basedOn: 0 })
  await setVars(admin, { nodeId: one.id, text: 'port: 2\nansible_python_interpreter: /usr/bin/python3', basedOn: 0 })
  await setSecretVar(admin, { nodeId: one.id, name: 'password', value: 'a long secret' })
  await t.given.fleet((await t.given.tenant()).operator, { nodes: 1, prefix: 'foreign' })
})
afterAll(async () => {
  await server?.stop()
  await t?.close()
  rmSync(folder, { recursive: true, force: true })
})

/** Output of ansible-inventory for a source. */
async function listed(source: string, env: Record<string, string> = {}): Promise<Listed> {
  const program = path.join(path.dirname(process.env.ANSIBLE_PLAYBOOK!), 'ansible-inventory')
  const { stdout } = await promisify(execFile)(program, ['-i', source, '--list', '--export'], {
    env: {
      PATH: `${path.dirname(program)}:${process.env.PATH}`,
      HOME: folder,
      LC_ALL: 'C.UTF-8',
      ANSIBLE_LOCAL_TEMP: folder,
      ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED: 'true',
      ...env,
    },
  })
  // Unwraps strings that Ansible marks as unsafe (never evaluated).
  return JSON.parse(stdout, (_key, value) => value?.__ansible_unsafe ?? value)
}

/** Removes what only one of external inventories and runs has, so that both can be compared. */
function comparable(inventory: Listed) {
  const { _meta, ...groups } = inventory
  const hostvars = Object.entries(_meta.hostvars).map(([host, vars]) => {
    const { ansible_host, ansible_port, ansible_user, ansible_ssh_common_args, muster_node_id, password, ...own } = vars
    return [host, own]
  })
  const hostsOf = (name: string): string[] => [...(groups[name]?.hosts ?? []), ...(groups[name]?.children ?? []).flatMap(hostsOf)]
  const members = Object.keys(groups).flatMap((name) =>
    name !== 'all' && hostsOf(name).length > 0 ? [[name, [...new Set(hostsOf(name))].sort()] as const] : [],
  )
  return { hostvars: Object.fromEntries(hostvars), members: Object.fromEntries(members) }
}

test('host variables contain the accelerators of the last discovery', async () => {
  const { _meta } = await readInventory(operator)
  expect(_meta!.hostvars[nodes[0]!.name]).toMatchObject({ nvidia_gpus: [{ index: 0 }, { index: 1 }], amd_gpus: [] })
  expect(_meta!.hostvars[nodes[1]!.name]).not.toHaveProperty('nvidia_gpus')
})

test('takes the same number of statements for one node as for all', async () => {
  const one = await countStatements(t, () => readInventory(operator, '{name = gpu001}'))
  const all = await countStatements(t, () => readInventory(operator, '{name ~ gpu}'))
  expect([Object.keys(one.result._meta!.hostvars).length, Object.keys(all.result._meta!.hostvars).length]).toEqual([1, 4])
  expect(all.count).toBe(one.count)
})

test('script and plugin return the same hosts, groups and variables as runs', async () => {
  const token = await t.tokenOf(viewer)
  const env = { MUSTER_URL: url, MUSTER_TOKEN: token, ANSIBLE_INVENTORY_PLUGINS: path.join(PLUGINS, 'inventory') }
  const config = path.join(folder, 'muster.yml')
  writeFileSync(config, 'plugin: muster\n')
  const ours = nodes.filter(({ name }) => ['gpu001', 'gpu002', 'gpu005'].includes(name))
  const vars = await varsOfNodes(
    operator,
    ours.map((node) => node.id),
  )
  const facts = await hostVariables(
    operator,
    ours.map((node) => node.id),
  )
  const targets = ours.map(({ id, name }) => {
    const machine = { alias: name, host: name, port: 22, login: { username: 'ops' }, hostKey: '', via: null }
    return {
      name,
      nodeId: id,
      machine,
      become: { method: 'sudo' as const, user: 'root', password: null },
      python: null,
      facts: facts.get(id) ?? {},
      ...vars.get(id)!,
    }
  })
  const run = path.join(folder, 'run.yml')
  writeFileSync(
    run,
    inventory(targets, new Set(), () => []),
  )

  const [script, plugin, own] = await Promise.all([
    listed(path.join(PLUGINS, 'inventory_muster.py'), env),
    listed(config, env),
    listed(run),
  ])
  expect(comparable(script)).toEqual(comparable(own))
  expect(comparable(plugin)).toEqual(comparable(own))
  expect(comparable(own).members).toEqual({
    prod: ['gpu001'],
    room: ['gpu001', 'gpu002'],
    site: ['gpu001', 'gpu002'],
    ungrouped: ['gpu005'],
  })
  const { gpu001, gpu002, gpu005 } = script._meta.hostvars
  expect(gpu001).toMatchObject({ level: 'room', port: 2, list: ['a', 'ü'], ansible_python_interpreter: '/usr/bin/python3' })
  expect(gpu001).not.toHaveProperty('password')
  expect(gpu001).toMatchObject({
    ansible_host: nodes[0]!.host,
    ansible_port: 22,
    ansible_user: 'ops',
    muster_node_id: nodes[0]!.id,
  })
  expect(Object.fromEntries(Object.entries(gpu001!).filter(([name]) => name.startsWith('muster_')))).toEqual({
    muster_node_id: nodes[0]!.id,
    muster_xname: 'x1000c0s0b0n0',
    muster_nid: 7,
    muster_rack: '{{ 1 + 1 }}',
    muster_rack_position: 'U07',
    muster_arch: 'x86_64',
    muster_management_ip: '10.9.0.1',
    muster_boot_mac: '02:00:5e:10:00:01',
    muster_interfaces: [
      { name: 'eth0', mac: '02:00:5e:10:00:01', boot: true, addresses: [{ address: '10.0.0.1', network: 'mgmt' }] },
      { name: 'eth1', mac: '02:00:5e:10:00:02', boot: false, addresses: [] },
    ],
    muster_bmc_address: '10.8.0.1',
    muster_boot_profile: 'debian',
  })
  expect(Object.keys(gpu005!).filter((name) => name.startsWith('muster_'))).toEqual(['muster_node_id'])
  expect(gpu002).toMatchObject({
    ansible_user: 'lab',
    ansible_ssh_common_args: '-o ProxyJump=jump@outer.test:22,jump@[fd00::1]:2222',
  })
  expect(gpu005).toMatchObject({ level: 'global' })
})

test('variables with template syntax are not evaluated by script or plugin', async () => {
  const token = await t.tokenOf(operator)
  const config = path.join(folder, 'all.muster.yml')
  writeFileSync(config, `plugin: muster\nurl: ${url}\nlimit: gpu001\n`)
  writeFileSync(
    path.join(folder, 'play.yml'),
    '- hosts: all\n  gather_facts: false\n  connection: local\n  tasks:\n    - ansible.builtin.debug: {msg: "{{ [text, nested, header, level] }}"}\n',
  )
  const env = {
    MUSTER_URL: url,
    MUSTER_TOKEN: token,
    MUSTER_LIMIT: 'gpu001',
    ANSIBLE_INVENTORY_PLUGINS: path.join(PLUGINS, 'inventory'),
  }
  const plays = [config, path.join(PLUGINS, 'inventory_muster.py')].map((source) =>
    promisify(execFile)(process.env.ANSIBLE_PLAYBOOK!, ['-i', source, path.join(folder, 'play.yml')], {
      env: { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C.UTF-8', ANSIBLE_LOCAL_TEMP: folder, ...env },
    }),
  )
  for (const { stdout } of await Promise.all(plays)) {
    expect(stdout).toContain('lookup(')
    expect(stdout).toContain('ok=1')
  }
  expect(existsSync(canary)).toBe(false)
})

test('uses the Python of the last discovery, except where a variable sets another', async () => {
  const facts = (python: string) =>
    sql`jsonb_build_object('python', jsonb_build_object('path', ${python}::text, 'version', '3.11.2'))`
  await t.runtime.db
    .update(computeNodes)
    .set({ facts: facts('/usr/bin/python3') })
    .where(eq(computeNodes.id, nodes[4]!.id))
  const response = await fetch(`${url}/api/inventory`, { headers: { authorization: `Bearer ${await t.tokenOf(operator)}` } })
  const { hostvars } = ((await response.json()) as Listed)._meta
  expect(hostvars.gpu005).toMatchObject({ ansible_python_interpreter: '/usr/bin/python3' })
  expect(hostvars.gpu002).not.toHaveProperty('ansible_python_interpreter')
})

test('checks token, limit and method', async () => {
  const token = await t.tokenOf(operator)
  const ask = (query = '', init: RequestInit = {}) =>
    fetch(`${url}/api/inventory${query}`, { headers: { authorization: `Bearer ${token}` }, ...init })
  const names = async (limit: string) =>
    Object.keys(((await (await ask(`?limit=${encodeURIComponent(limit)}`)).json()) as Listed)._meta.hostvars)
  expect(await names('{tag = prod},gpu003')).toEqual(['gpu001', 'gpu003'])
  const nobody = await ask('', { headers: {} })
  expect([nobody.status, nobody.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  expect((await ask('', { headers: { authorization: 'Bearer mst_of_nobody' } })).status).toBe(401)
  const wrong = await ask('?limit=foreign001')
  expect([wrong.status, await wrong.json()]).toEqual([400, { error: 'limit: there is no node foreign001' }])
  expect((await ask('', { method: 'POST' })).status).toBe(405)
  expect(await (await ask('', { method: 'HEAD' })).text()).toBe('')
  const program = path.join(PLUGINS, 'inventory_muster.py')
  const env = { PATH: process.env.PATH, HOME: folder, MUSTER_URL: url, MUSTER_TOKEN: 'mst_of_nobody' }
  await expect(promisify(execFile)(program, ['--list'], { env })).rejects.toThrow(/Muster: .*sign/i)
  const { stdout } = await promisify(execFile)(program, ['--host', 'gpu005'], { env: { ...env, MUSTER_TOKEN: token } })
  expect(JSON.parse(stdout)).toMatchObject({ level: 'global' })
})

test('the plugin writes approved host keys for ssh, and fails on a rejected token', async () => {
  const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ4sDjhb1bCJ0lk6wYkQ5S0nXYlTBhVYmXbGJ6aYkz5d'
  await t.runtime.db.update(computeNodes).set({ hostKey: key, port: 2222 }).where(eq(computeNodes.id, nodes[0]!.id))
  const token = await t.tokenOf(operator)
  const config = path.join(folder, 'keys.muster.yml')
  const knownHosts = path.join(folder, 'known hosts')
  writeFileSync(config, `plugin: muster\nknown_hosts: ${knownHosts}\n`)
  const env = { MUSTER_URL: url, MUSTER_TOKEN: token, ANSIBLE_INVENTORY_PLUGINS: path.join(PLUGINS, 'inventory') }
  const { hostvars } = (await listed(config, env))._meta
  expect(readFileSync(knownHosts, 'utf8')).toContain(`[${nodes[0]!.host}]:2222 ${key}\n`)
  expect(hostvars.gpu001!.ansible_ssh_common_args).toBe(`-F '${knownHosts}.ssh_config'`)
  expect(hostvars.gpu002!.ansible_ssh_common_args).toMatch(/^-F .* -o ProxyJump=/)
  const checked = await promisify(execFile)('ssh', ['-G', '-F', `${knownHosts}.ssh_config`, 'anything'])
  expect(checked.stdout).toMatch(/^stricthostkeychecking (yes|true)$/m)
  expect(checked.stdout).toContain(`userknownhostsfile ${knownHosts}`)
  // Must fail even without ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED.
  await expect(
    listed(config, { ...env, MUSTER_TOKEN: 'mst_of_nobody', ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED: 'false' }),
  ).rejects.toMatchObject({ code: 4 })
})

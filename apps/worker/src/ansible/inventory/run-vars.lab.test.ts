import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import { schema } from '@muster/core/registry'
import { setSecretVar, setVarMerge, setVars } from '@muster/core/variables'
import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOnboardedLab, type OnboardedLab } from '../../testing/onboarded-lab.ts'

let fixture: OnboardedLab
let names: [string, string]
beforeAll(async () => {
  fixture = await createOnboardedLab()
  const [a, b] = fixture.lab.nodes.filter((node) => !node.behindBastion)
  names = [a!.name, b!.name]
})
afterAll(() => fixture.close())

const PLAY = `- hosts: all
  gather_facts: false
  tasks:
    - name: Show
      debug:
        msg: {who: "{{ who }}", where: "{{ where }}", net: "{{ net }}", evil: "{{ evil }}", groups: "{{ group_names }}", room: "{{ groups['room'] }}", top: "{{ top }}", way: "{{ ansible_ssh_timeout }}"}
    - name: Use the token
      command: "printf %s {{ token }}"
    - assert: {that: [token == expected]}
      vars: {expected: "{{ 'secret of ' ~ ('the room' if inventory_hostname == first else 'everybody') }}"}
`

test('resolves variables of all layers, masks secrets and does not evaluate text', async () => {
  const { operator, admin } = fixture
  const id = (i: 0 | 1) => fixture.nodeIds.get(names[i])!
  const trace = join(fixture.config.ANSIBLE_WORK_DIR, '..', 'was-here')
  const evil = `{{ lookup('pipe', 'touch ${trace}') }} {% for x in [1] %} #{{`
  const group = async (name: string, priority: number, members: string[]) => {
    const created = await createNodeGroup(operator, { name, priority })
    await setNodeGroupMembers(operator, { id: created.id, addNodeIds: members })
    return created.id
  }
  // Ansible itself would prefer the group with the larger number, then the later name.
  const room = await group('room', 5, [id(0)])
  const zone = await group('zone', 90, [id(0), id(1)])
  const all = {
    who: 'all',
    where: 'all',
    net: { mtu: 1500, dns: ['a'] },
    evil: { [evil]: [evil] },
    top: 'all',
    ansible_ssh_timeout: 7,
  }
  await setVars(admin, { text: JSON.stringify(all), basedOn: 0 })
  await setVars(operator, { groupId: zone, text: 'who: zone\nwhere: zone\ntop: zone', basedOn: 0 })
  await setVars(operator, { groupId: room, text: 'where: room # nearest of the groups\nwho: room', basedOn: 0 })
  await setVars(operator, { nodeId: id(0), text: 'who: node\nnet: {mtu: 9000}\ntop: node', basedOn: 0 })
  await setSecretVar(operator, { name: 'token', value: 'secret of everybody' })
  await setSecretVar(operator, { groupId: room, name: 'token', value: 'secret of the room' })
  const template = await fixture.template('layers', PLAY)
  const start = async () => {
    const { done } = await fixture.start({
      template,
      limit: names.join(','),
      verbosity: 3,
      extraVars: { top: 'run', first: names[0], ...((await merge()) === 'deep' ? { net: { vlan: 7 } } : {}) },
    })
    const { run, log, events } = await done
    expect([run.status, run.error]).toEqual(['SUCCEEDED', null])
    const shown = (i: 0 | 1) =>
      (events.find((e) => e.kind === 'ok' && e.task === 'Show' && e.host === names[i])!.result as { msg: object }).msg
    return { shown, all: log + JSON.stringify(events) }
  }
  const merge = async () => {
    const [tenant] = await fixture.runtime.db.select().from(schema.tenants).where(eq(schema.tenants.id, fixture.tenant.id))
    return tenant!.varMerge
  }
  const same = { room: [names[0]], evil: { [evil]: [evil] }, top: 'run', way: 7 }
  const first = await start()
  expect(first.shown(0)).toEqual({ ...same, who: 'node', where: 'room', net: { mtu: 9000 }, groups: ['room', 'zone'] })
  expect(first.shown(1)).toEqual({ ...same, who: 'zone', where: 'zone', net: all.net, groups: ['zone'] })
  expect(first.all).not.toMatch(/secret of (everybody|the room)/)
  expect(first.all).toContain('***')

  await setVarMerge(admin, { merge: 'deep' })
  const second = await start()
  expect(second.shown(0)).toMatchObject({ net: { mtu: 9000, dns: ['a'], vlan: 7 } })
  expect(second.shown(1)).toMatchObject({ net: { mtu: 1500, dns: ['a'], vlan: 7 } })
  expect(existsSync(trace)).toBe(false)
})

test('uses the discovered Python unless an admin sets another one or it is too old', async () => {
  const { runtime, admin, lab, nodeIds } = fixture
  const [found, chosen, old, unknown] = lab.nodes.filter((node) => !node.behindBastion).map((node) => node.name)
  const setDiscoveredPython = async (name: string, version: string) => {
    const python = { path: '/usr/bin/python3', version }
    const facts = sql`jsonb_build_object('python', ${JSON.stringify(python)}::jsonb)`
    await runtime.db
      .update(schema.computeNodes)
      .set({ facts })
      .where(eq(schema.computeNodes.id, nodeIds.get(name)!))
  }
  await setDiscoveredPython(found!, '3.11.2')
  await setDiscoveredPython(chosen!, '3.11.2')
  await setDiscoveredPython(old!, '3.7.9')
  const nodeId = nodeIds.get(chosen!)!
  await setVars(admin, { nodeId, text: 'ansible_python_interpreter: /usr/bin/python3.11', basedOn: 0 })
  const play = `- hosts: all
  gather_facts: false
  tasks:
    - ping:
    - name: Show
      debug: {msg: "{{ ansible_python_interpreter | default('not set') }}"}
`
  const template = await fixture.template('python', play)
  const { done } = await fixture.start({ template, limit: [found, chosen, old, unknown].join(',') })
  const { run, events } = await done
  expect([run.status, run.error]).toEqual(['SUCCEEDED', null])
  const shown = (name: string) => events.find((e) => e.kind === 'ok' && e.task === 'Show' && e.host === name)!.result
  expect(shown(found!)).toMatchObject({ msg: '/usr/bin/python3' })
  expect(shown(chosen!)).toMatchObject({ msg: '/usr/bin/python3.11' })
  for (const name of [old, unknown]) expect(shown(name!)).toMatchObject({ msg: 'not set' })
})

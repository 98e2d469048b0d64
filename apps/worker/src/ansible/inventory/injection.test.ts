import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import { FAULT_TIMEOUT, scaleIterations } from '@muster/core/testing'
import { readInventory, setVars } from '@muster/core/variables'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { maliciousValues } from '../../testing/malicious-values.ts'
import { createRunFixture, type RunFixture, realAnsible } from '../../testing/run-fixture.ts'

const VALUES = scaleIterations(200_000)
// As many as fit: each layer may have 256 KiB.
const PER_RUN = 8000
/** Of variables: what each is called that has that layer's values. Others than our runs do not have the last. */
const LAYERS = ['everywhere', 'grouped', 'mine', 'given'] as const

let fixture: RunFixture
let folder: string
let canaries: string
beforeAll(async () => {
  fixture = await createRunFixture({ ANSIBLE_PLAYBOOK: realAnsible() })
  folder = dirname(fixture.config.ANSIBLE_WORK_DIR)
  canaries = join(folder, 'c')
  mkdirSync(canaries)
})
afterAll(() => fixture.close())

/** A playbook that uses variables in all ways that we know, and writes what they are into the file `told`. */
const play = (told: string, layers: readonly string[]) => {
  const each = (use: (layer: string) => string) => layers.map((layer) => `{{ ${use(layer)} }}`)
  const dictionary = (value: (layer: string) => string) =>
    `{{ {${layers.map((layer) => `'${layer}': ${value(layer)}`).join(', ')}} }}`
  const tasks = [
    { name: each((layer) => `${layer}.list[0]`).join(' '), debug: { msg: each((layer) => layer) } },
    { name: 'Say', debug: { msg: each((layer) => `${layer}.list | join(' ') | upper`) } },
    { name: 'Say some', debug: { msg: '{{ item }}' }, loop: `{{ ${layers.map((layer) => `${layer}.list[:2]`).join(' + ')} }}` },
    { name: 'Take over', set_fact: { copy: dictionary((layer) => layer) } },
    { name: 'Look up', debug: { msg: each((layer) => `lookup('vars', '${layer}').map | dict2items`) } },
    { name: 'Look again', debug: { msg: '{{ more }}' }, vars: { more: '{{ hostvars[inventory_hostname].copy }}' } },
    { name: 'Give to a command', command: { argv: ['true', ...each((layer) => `${layer}.list[2]`)] } },
    { name: 'Give to a shell', shell: `true ${each((layer) => `${layer}.list[3] | quote`).join(' ')}` },
    { name: 'Keep', copy: { content: '{{ copy | to_json }}', dest: told } },
  ]
  const vars = { ansible_python_interpreter: '{{ ansible_playbook_python }}' }
  return JSON.stringify([{ hosts: 'all', connection: 'local', gather_facts: false, vars, tasks }])
}

/** A reason with control characters is refused. */
const printable = (text: string) => text.replaceAll(/[^\P{Cc}\n\t]/gu, '')

/** What somebody does who has his own Ansible and our inventory. */
async function playOutside(inventory: object, text: string): Promise<void> {
  const [script, playbook] = [join(folder, 'inventory.sh'), join(folder, 'outside.yml')]
  await writeFile(join(folder, 'inventory.json'), JSON.stringify(inventory))
  await writeFile(script, `#!/bin/sh\ncat ${folder}/inventory.json\n`, { mode: 0o700 })
  await writeFile(playbook, text)
  const env = { PATH: process.env.PATH, HOME: folder, LC_ALL: 'C.UTF-8' }
  await promisify(execFile)(realAnsible(), ['-i', script, playbook], { env, maxBuffer: 1024 ** 3 }).catch(
    ({ stdout, stderr }) => {
      throw new Error(`${stdout}${stderr}`.slice(-2000))
    },
  )
}

test(`${VALUES} values that want to be evaluated are not, and arrive as they are`, { timeout: FAULT_TIMEOUT }, async () => {
  const told = (who: 'inside' | 'outside') => join(folder, `told-${who}.json`)
  const template = await fixture.template('tell', play(told('inside'), LAYERS))
  const kinds = [{ name: 'inside', connectionType: 'local' as const }, { name: 'outside' }]
  const [node, outside] = await fixture.given.fleet(fixture.admin, { nodes: 2, with: (i) => kinds[i]! })
  const group = await createNodeGroup(fixture.operator, { name: 'room' })
  await setNodeGroupMembers(fixture.operator, { id: group.id, add: [node!.id, outside!.id] })
  const next = maliciousValues(canaries)
  for (let done = 0, basedOn = 0; done < VALUES; done += PER_RUN, basedOn++) {
    const some = () => {
      const list = Array.from({ length: Math.min(PER_RUN, VALUES - done) / LAYERS.length }, next)
      return { list, map: Object.fromEntries(list.slice(0, 50).map((text) => [text, { [text]: [text] }])) }
    }
    const vars = Object.fromEntries(LAYERS.map((layer) => [layer, some()]))
    const { everywhere, grouped, mine, given } = vars
    await setVars(fixture.admin, { text: JSON.stringify({ everywhere }), basedOn })
    await setVars(fixture.operator, { groupId: group.id, text: JSON.stringify({ grouped }), basedOn })
    for (const { id } of [node!, outside!])
      await setVars(fixture.operator, { nodeId: id, text: JSON.stringify({ mine }), basedOn })

    const { given: _, ...known } = vars
    const inside = await fixture.start({ template, nodeIds: [node!.id], extraVars: { given }, reason: printable(next()) })
    const inventory = await readInventory(fixture.viewer, 'outside')
    const [{ run, log }] = await Promise.all([inside.done, playOutside(inventory, play(told('outside'), Object.keys(known)))])
    expect([run.status, run.status === 'SUCCEEDED' || log.slice(-2000)]).toEqual(['SUCCEEDED', true])
    expect(JSON.parse(readFileSync(told('inside'), 'utf8'))).toEqual(vars)
    expect(JSON.parse(readFileSync(told('outside'), 'utf8'))).toEqual(known)
  }
  expect(readdirSync(canaries)).toEqual([])
})

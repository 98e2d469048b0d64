import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { createNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import { FAULT_TIMEOUT, scaleIterations } from '@muster/core/testing'
import { readInventory, setVars } from '@muster/core/variables'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { maliciousValues } from '../../testing/malicious/values.ts'
import { createRunFixture, type RunFixture, realAnsible } from '../../testing/run-fixture.ts'

const VALUES = scaleIterations(200_000)
// The limit of a layer is 256 KiB.
const PER_RUN = 8000
/** Name of the variable that each layer sets. Only runs have the last layer, the extra vars. */
const LAYERS = ['everywhere', 'grouped', 'own', 'extra'] as const

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

/** A playbook that uses variables in all known ways and writes their values to the file `output`. */
const play = (output: string, layers: readonly string[]) => {
  const each = (use: (layer: string) => string) => layers.map((layer) => `{{ ${use(layer)} }}`)
  const dictionary = (value: (layer: string) => string) =>
    `{{ {${layers.map((layer) => `'${layer}': ${value(layer)}`).join(', ')}} }}`
  const tasks = [
    { name: each((layer) => `${layer}.list[0]`).join(' '), debug: { msg: each((layer) => layer) } },
    { name: 'Print', debug: { msg: each((layer) => `${layer}.list | join(' ') | upper`) } },
    {
      name: 'Print in a loop',
      debug: { msg: '{{ item }}' },
      loop: `{{ ${layers.map((layer) => `${layer}.list[:2]`).join(' + ')} }}`,
    },
    { name: 'Set facts', set_fact: { copy: dictionary((layer) => layer) } },
    { name: 'Look up', debug: { msg: each((layer) => `lookup('vars', '${layer}').map | dict2items`) } },
    { name: 'Look up indirectly', debug: { msg: '{{ more }}' }, vars: { more: '{{ hostvars[inventory_hostname].copy }}' } },
    { name: 'Pass to a command', command: { argv: ['true', ...each((layer) => `${layer}.list[2]`)] } },
    { name: 'Pass to a shell', shell: `true ${each((layer) => `${layer}.list[3] | quote`).join(' ')}` },
    { name: 'Write', copy: { content: '{{ copy | to_json }}', dest: output } },
  ]
  const vars = { ansible_python_interpreter: '{{ ansible_playbook_python }}' }
  return JSON.stringify([{ hosts: 'all', connection: 'local', gather_facts: false, vars, tasks }])
}

/** Removes control characters, which reasons must not contain. */
const printable = (text: string) => text.replaceAll(/[^\P{Cc}\n\t]/gu, '')

/** Runs a playbook with the exported inventory, without a worker. */
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

test(`passes ${VALUES} malicious values unchanged and evaluates none`, { timeout: FAULT_TIMEOUT }, async () => {
  const outputOf = (who: 'inside' | 'outside') => join(folder, `output-${who}.json`)
  const template = await fixture.template('print', play(outputOf('inside'), LAYERS))
  const kinds = [{ name: 'inside', connectionType: 'local' as const }, { name: 'outside' }]
  const [node, outside] = await fixture.given.fleet(fixture.admin, { nodes: 2, with: (i) => kinds[i]! })
  const group = await createNodeGroup(fixture.operator, { name: 'room' })
  await setNodeGroupMembers(fixture.operator, { id: group.id, addNodeIds: [node!.id, outside!.id] })
  const next = maliciousValues(canaries)
  for (let done = 0, basedOn = 0; done < VALUES; done += PER_RUN, basedOn++) {
    const some = () => {
      const list = Array.from({ length: Math.min(PER_RUN, VALUES - done) / LAYERS.length }, next)
      return { list, map: Object.fromEntries(list.slice(0, 50).map((text) => [text, { [text]: [text] }])) }
    }
    const vars = Object.fromEntries(LAYERS.map((layer) => [layer, some()]))
    const { everywhere, grouped, own, extra } = vars
    await setVars(fixture.admin, { text: JSON.stringify({ everywhere }), basedOn })
    await setVars(fixture.operator, { groupId: group.id, text: JSON.stringify({ grouped }), basedOn })
    for (const { id } of [node!, outside!])
      await setVars(fixture.operator, { nodeId: id, text: JSON.stringify({ own }), basedOn })

    const { extra: _, ...known } = vars
    const inside = await fixture.start({ template, nodeIds: [node!.id], extraVars: { extra }, reason: printable(next()) })
    const inventory = await readInventory(fixture.viewer, 'outside')
    const [{ run, log }] = await Promise.all([inside.done, playOutside(inventory, play(outputOf('outside'), Object.keys(known)))])
    expect([run.status, run.status === 'SUCCEEDED' || log.slice(-2000)]).toEqual(['SUCCEEDED', true])
    expect(JSON.parse(readFileSync(outputOf('inside'), 'utf8'))).toEqual(vars)
    expect(JSON.parse(readFileSync(outputOf('outside'), 'utf8'))).toEqual(known)
  }
  expect(readdirSync(canaries)).toEqual([])
})

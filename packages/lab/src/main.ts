#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { describeLab, type LabDescription } from './describe.ts'
import type { FaultName, Lab, LabMode } from './types.ts'
import { labUp, listLabs } from './up.ts'

const usage = `lab up [N] [--json] [--no-bastion] [--mode namespaces|loopback]
           brings up N nodes (default 8) that stay until "lab down"
lab up [N] --foreground [--until-stdin-ends]
           stays itself: prints one line of JSON, and takes the lab down on SIGTERM, SIGINT or the end of stdin
lab list [--json]
lab down [ID]                  without ID: every lab
lab fault NODE NAME [key=value ...]
lab heal [NODE]`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean' },
    foreground: { type: 'boolean' },
    'until-stdin-ends': { type: 'boolean' },
    'no-bastion': { type: 'boolean' },
    mode: { type: 'string' },
  },
})
const [verb, ...args] = positionals

try {
  process.exitCode = await run()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

async function run(): Promise<number> {
  switch (verb) {
    case 'up':
      return values.foreground ? stayUp() : leaveUp()
    case 'list':
      return list()
    case 'down':
      return down(args[0])
    case 'fault':
      return fault(args)
    case 'heal':
      return heal(args[0])
    default:
      console.error(usage)
      return 2
  }
}

async function stayUp(): Promise<number> {
  // From the first moment on: a signal that comes while the lab is being built ends it as soon as it stands.
  const asked = new Promise<'asked'>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(signal, () => resolve('asked'))
    if (values['until-stdin-ends']) process.stdin.resume().once('end', () => resolve('asked'))
  })
  // What ends by itself must not be ended early by an idle event loop.
  const awake = setInterval(() => {}, 60_000)
  try {
    const lab = await labUp({ nodes: count(), bastion: !values['no-bastion'], mode: mode() })
    console.log(JSON.stringify(describeLab(lab)))
    const why = await Promise.race([asked, lab.ended.then(() => 'ended' as const)])
    await lab.down()
    return why === 'asked' ? 0 : 1
  } finally {
    clearInterval(awake)
    process.stdin.pause()
  }
}

/** Starts a process of its own that owns the lab, and returns when it stands. */
async function leaveUp(): Promise<number> {
  const self = fileURLToPath(import.meta.url)
  const options = [...(values['no-bastion'] ? ['--no-bastion'] : []), ...(values.mode ? ['--mode', values.mode] : [])]
  const owner = spawn(process.execPath, [self, 'up', String(count()), '--foreground', ...options], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  owner.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const [line] = await Promise.race([
    once(createInterface({ input: owner.stdout }), 'line') as Promise<[string]>,
    once(owner, 'close').then(() => [null] as const),
  ])
  if (line === null) throw new Error(said.trim() || 'The lab did not come up.')
  owner.unref()
  owner.stdout.destroy()
  owner.stderr.destroy()
  if (values.json) console.log(line)
  else printLab(JSON.parse(line))
  return 0
}

async function list(): Promise<number> {
  const labs = (await listLabs()).map(describeLab)
  if (values.json) console.log(JSON.stringify(labs))
  else if (labs.length === 0) console.log('No lab is up.')
  else for (const lab of labs) printLab(lab)
  return 0
}

async function down(id: string | undefined): Promise<number> {
  const labs = (await listLabs()).filter((lab) => id === undefined || lab.id === id)
  if (id && labs.length === 0) throw new Error(`No lab ${id} is up.`)
  await Promise.all(labs.map((lab) => lab.down()))
  return 0
}

async function fault([node, name, ...pairs]: string[]): Promise<number> {
  if (!node || !name) throw new Error(usage)
  const options = Object.fromEntries(pairs.map((pair) => pair.split('=', 2)).map(([key, value]) => [key, Number(value) || value]))
  await (await labWith(node)).fault(node, name as FaultName, options)
  return 0
}

async function heal(node: string | undefined): Promise<number> {
  if (node) await (await labWith(node)).heal(node)
  else for (const lab of await listLabs()) await lab.heal()
  return 0
}

/** The one running lab that has such a node. */
async function labWith(node: string): Promise<Lab> {
  const labs = (await listLabs()).filter((lab) => [...lab.nodes, lab.bastion].some((host) => host?.name === node))
  const [lab] = labs
  if (!lab) throw new Error(`No running lab has a node "${node}".`)
  if (labs.length > 1) throw new Error(`${labs.length} running labs have a node "${node}"; take all but one down first.`)
  return lab
}

function printLab(lab: LabDescription): void {
  console.log(`Lab ${lab.id} (${lab.mode}), ${lab.nodes.length} nodes`)
  for (const node of lab.nodes) {
    const way = node.behindBastion ? 'behind the bastion' : ''
    console.log(
      `  ${node.name.padEnd(20)} ${`${node.host}:${node.port}`.padEnd(20)} ${node.hostKeyFingerprint} ${node.profile.padEnd(16)} ${way}`.trimEnd(),
    )
  }
  if (lab.bastion)
    console.log(
      `  ${'bastion'.padEnd(20)} ${`${lab.bastion.host}:${lab.bastion.port}`.padEnd(20)} ${lab.bastion.hostKeyFingerprint}`,
    )
  const { sshPassword, sshKey, bastionPassword } = lab.credentials
  console.log(
    `  ${sshPassword ? `Log in as ${sshPassword.username}, password ${sshPassword.password}` : `Log in as ${sshKey.username} by key (--json)`}`,
  )
  if (bastionPassword) console.log(`  Bastion login ${bastionPassword.username}, password ${bastionPassword.password}`)
}

function count(): number {
  const nodes = Number(args[0] ?? 8)
  if (!Number.isInteger(nodes) || nodes < 1) throw new Error(`"${args[0]}" is not a number of nodes.`)
  return nodes
}

function mode(): LabMode | 'auto' {
  if (values.mode === undefined) return 'auto'
  if (values.mode === 'namespaces' || values.mode === 'loopback') return values.mode
  throw new Error(`Mode "${values.mode}" is neither namespaces nor loopback.`)
}

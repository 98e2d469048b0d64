#!/usr/bin/env node
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, watchFile } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { describeLab, type LabDescription } from './describe.ts'
import { type LabMachines, startLabMachines } from './machines/lab-machines.ts'
import { machinesBlockedReason } from './machines/programs.ts'
import { listLabs, startLab } from './start-lab.ts'
import type { FaultName, Lab, LabMode } from './types.ts'

/** As many have fixed addresses in the network of a lab. */
const MAX_MACHINES = 16
const usage = `lab up [N] [--slurm] [--json] [--no-bastion] [--mode namespaces|loopback]
           starts N nodes (default 8) that run until "lab down"; --slurm adds a controller and makes them a Slurm cluster
lab up [N] [--slurm] --foreground [--until-stdin-ends] [--identity FILE] [--machines N --dhcp-config FILE]
           runs in the foreground: prints one line of JSON, and stops the lab on SIGTERM, SIGINT or when stdin closes
           --identity FILE keeps addresses, host keys and logins for the next start
           --machines N adds machines of qemu that boot from the network, switched off, with a BMC; dnsmasq serves them as soon as
           FILE has its configuration, and again when FILE changes
lab list [--json]
lab down [ID]                  stops one lab, or all
lab fault NODE NAME [key=value ...]
lab heal [NODE]`

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'boolean' },
    foreground: { type: 'boolean' },
    'until-stdin-ends': { type: 'boolean' },
    'no-bastion': { type: 'boolean' },
    slurm: { type: 'boolean' },
    identity: { type: 'string' },
    machines: { type: 'string' },
    'dhcp-config': { type: 'string' },
    mode: { type: 'string' },
  },
})
const [command, ...args] = positionals

try {
  process.exitCode = await run()
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error))
  process.exitCode = 1
}

async function run(): Promise<number> {
  switch (command) {
    case 'up':
      return values.foreground ? runInForeground() : startDetached()
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

async function runInForeground(): Promise<number> {
  // Registered before the lab starts: a signal during the start stops the lab as soon as it is up.
  const stopRequested = new Promise<'requested'>((resolve) => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.once(signal, () => resolve('requested'))
    if (values['until-stdin-ends']) process.stdin.resume().once('end', () => resolve('requested'))
  })
  // Keeps the event loop alive: the lab's own handles are unreferenced.
  const keepAlive = setInterval(() => {}, 60_000)
  try {
    const lab = await startLab({
      nodes: count(),
      bastion: !values['no-bastion'],
      mode: mode(),
      slurm: values.slurm ?? false,
      identityFile: values.identity,
    })
    const machines = await addMachines(lab)
    console.log(JSON.stringify(describeLab(lab, machines)))
    if (machines && values['dhcp-config']) followDhcpConfig(machines, values['dhcp-config'])
    const reason = await Promise.race([stopRequested, lab.ended.then(() => 'ended' as const)])
    await machines?.bmc.close()
    await machines?.machines.down()
    await lab.down()
    return reason === 'requested' ? 0 : 1
  } finally {
    clearInterval(keepAlive)
    process.stdin.pause()
  }
}

/** The machines of `--machines`; null, with the reason on stderr, when this system cannot run them. */
async function addMachines(lab: Lab): Promise<LabMachines | null> {
  const machines = Number(values.machines ?? 0)
  if (!Number.isInteger(machines) || machines < 0 || machines > MAX_MACHINES)
    throw new Error(`Invalid number of machines "${values.machines}": from 1 to ${MAX_MACHINES}.`)
  if (machines === 0) return null
  const reason = machinesBlockedReason()
  if (reason) console.error(`The lab has no machines that boot from the network: ${reason}.`)
  return reason ? null : await startLabMachines(lab, machines)
}

/** Serves DHCP with the configuration in a file, and again when the file changes. */
function followDhcpConfig({ machines }: LabMachines, file: string): void {
  const serve = async () => {
    if (existsSync(file)) await machines.serveDhcp(readFileSync(file, 'utf8'))
  }
  let last = serve()
  watchFile(file, { interval: 500, persistent: false }, () => {
    last = last.then(serve).catch((error: Error) => console.error(error.message))
  })
  last.catch((error: Error) => console.error(error.message))
}

/** Starts a detached process that owns the lab, and returns when the lab is up. */
async function startDetached(): Promise<number> {
  const self = fileURLToPath(import.meta.url)
  const options = [
    ...(values['no-bastion'] ? ['--no-bastion'] : []),
    ...(values.slurm ? ['--slurm'] : []),
    ...(values.mode ? ['--mode', values.mode] : []),
  ]
  const owner = spawn(process.execPath, [self, 'up', String(count()), '--foreground', ...options], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  owner.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [line] = await Promise.race([
    once(createInterface({ input: owner.stdout }), 'line') as Promise<[string]>,
    once(owner, 'close').then(() => [null] as const),
  ])
  if (line === null) throw new Error(stderr.trim() || 'The lab did not start.')
  owner.unref()
  owner.stdout.destroy()
  owner.stderr.destroy()
  if (values.json) console.log(line)
  else printLab(JSON.parse(line))
  return 0
}

async function list(): Promise<number> {
  const labs = (await listLabs()).map((lab) => describeLab(lab))
  if (values.json) console.log(JSON.stringify(labs))
  else if (labs.length === 0) console.log('No lab is running.')
  else for (const lab of labs) printLab(lab)
  return 0
}

async function down(id: string | undefined): Promise<number> {
  const labs = (await listLabs()).filter((lab) => id === undefined || lab.id === id)
  if (id && labs.length === 0) throw new Error(`No lab ${id} is running.`)
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

/** The only running lab with a node of that name. */
async function labWith(node: string): Promise<Lab> {
  const labs = (await listLabs()).filter((lab) => [...lab.nodes, lab.bastion].some((host) => host?.name === node))
  const [lab] = labs
  if (!lab) throw new Error(`No running lab has a node "${node}".`)
  if (labs.length > 1) throw new Error(`${labs.length} running labs have a node "${node}"; stop all but one of them first.`)
  return lab
}

function printLab(lab: LabDescription): void {
  console.log(`Lab ${lab.id} (${lab.mode}), ${lab.nodes.length} nodes`)
  for (const node of lab.nodes) {
    const access = node.behindBastion ? 'behind the bastion' : ''
    console.log(
      `  ${node.name.padEnd(20)} ${`${node.host}:${node.port}`.padEnd(20)} ${node.hostKeyFingerprint} ${node.profile.padEnd(16)} ${access}`.trimEnd(),
    )
  }
  if (lab.bastion)
    console.log(
      `  ${'bastion'.padEnd(20)} ${`${lab.bastion.host}:${lab.bastion.port}`.padEnd(20)} ${lab.bastion.hostKeyFingerprint}`,
    )
  if (lab.slurm)
    console.log(`  Slurm cluster of ${lab.slurm.compute.join(', ')}; run its commands on ${lab.slurm.controllers[0]}`)
  const { sshPassword, sshKey, bastionPassword } = lab.credentials
  console.log(
    `  ${sshPassword ? `Log in as ${sshPassword.username}, password ${sshPassword.password}` : `Log in as ${sshKey.username} by key (--json)`}`,
  )
  if (bastionPassword) console.log(`  Bastion login ${bastionPassword.username}, password ${bastionPassword.password}`)
}

function count(): number {
  const nodes = Number(args[0] ?? 8)
  if (!Number.isInteger(nodes) || nodes < 1) throw new Error(`Invalid number of nodes "${args[0]}".`)
  return nodes
}

function mode(): LabMode | 'auto' {
  if (values.mode === undefined) return 'auto'
  if (values.mode === 'namespaces' || values.mode === 'loopback') return values.mode
  throw new Error(`Unknown mode "${values.mode}". Modes: namespaces, loopback.`)
}

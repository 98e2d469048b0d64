import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { capture, requirePrograms } from '../commands.ts'
import { type FileSpec, hidePaths, writeFiles } from '../files.ts'
import { hardwareFiles } from '../hardware.ts'
import { hostKeyOf, type LabIdentity } from '../identity.ts'
import type { PlannedNode } from '../plan.ts'
import { type LabState, type NodeState, saveState } from '../registry.ts'
import { DEVICE_FILES } from '../slurm/config.ts'
import { createDevices } from '../slurm/devices.ts'
import { slurmAccounts, slurmNodeFiles, writeSlurmBase } from '../slurm/files.ts'
import { slurmMounts } from '../slurm/mounts.ts'
import { type Supervisor, startSupervisor } from '../supervisor.ts'
import { buildBase } from './base.ts'
import * as network from './network.ts'

/** Programs of the host that the lab needs, and their Debian packages. */
const programs = {
  sshd: 'openssh-server',
  ip: 'iproute2',
  sudo: 'sudo',
  unshare: 'util-linux',
  nsenter: 'util-linux',
  setpriv: 'util-linux',
  openssl: 'openssl',
}

/** Starts the planned nodes in namespaces. Completes and saves `state`; resolves when every sshd listens. */
export async function startInNamespaces(state: LabState, plan: PlannedNode[], identity: LabIdentity): Promise<Supervisor> {
  const needsPython = plan.some((node) => node.python)
  requirePrograms({ ...programs, ...(needsPython ? { python3: 'python3' } : {}) })
  const supervisor = await startSupervisor([
    // The parent-death signal works while the supervisor is busy and does not read its stdin.
    ...['setpriv', '--pdeathsig', 'KILL', 'unshare', '--mount', '--net', '--pid', '--fork', '--kill-child'],
    ...['/bin/sh', path.join(import.meta.dirname, 'supervisor.sh'), import.meta.dirname],
  ])
  state.supervisors = supervisor.processes
  const root = labRoot(state)
  const [{ subnet, link }, sshdOptions] = await Promise.all([
    network.createLink(supervisor.processes[0].pid, identity.subnet),
    detectSshdOptions(),
    buildBase(path.join(root, 'mask'), path.join(root, 'base'), state.credentials, state.slurm ? slurmAccounts : []),
    ...(state.slurm ? [createDevices(path.join(root, 'dev'), DEVICE_FILES)] : []),
  ])
  const addresses = network.assignAddresses(
    subnet,
    plan.map((node) => node.behindBastion),
  )
  state.subnet = subnet
  identity.subnet = subnet
  state.link = link
  state.nodes = plan.map((node, index) => ({ ...node, host: addresses[index]!, port: 22 }))
  state.bastion = plan.some((node) => node.behindBastion)
    ? { name: 'bastion', host: network.bastionAddress(subnet), port: 22 }
    : null
  if (!state.bastion) Object.assign(state.credentials, { bastionKey: null, bastionPassword: null })
  await saveState(state)
  writeFileSync(path.join(root, 'net'), network.labBatch(state.nodes, state.bastion !== null))
  const networkCreated = supervisor.send('net', 'net-done')
  writeFiles(path.join(root, 'base'), [{ path: '/usr/lib/lab/sshd-options', content: sshdOptions }])
  if (state.slurm) writeSlurmBase(root, state.slurm, state.nodes)
  hidePaths(path.join(root, 'sysmask'), path.join(root, 'mask/.whiteout'), [
    'bus/pci',
    'class/dmi',
    'class/infiniband',
    'class/drm',
  ])
  const hosts: Host[] = [...state.nodes, ...(state.bastion ? [{ ...state.bastion, bastion: true as const }] : [])]
  for (const host of hosts) buildHost(root, state, host, identity)
  const names = hosts.map(({ name }) => name)
  writeFileSync(path.join(root, 'fstab'), names.map((name) => `tmpfs ${nodeDir(name)}/disk tmpfs ${diskOptions} 0 0\n`).join(''))
  writeFileSync(
    path.join(root, 'disk-dirs'),
    names.map((name) => `${nodeDir(name)}/disk/upper ${nodeDir(name)}/disk/work\n`).join(''),
  )
  await Promise.all([networkCreated, supervisor.send('disks', 'disks-done')])
  try {
    await Promise.all(names.map((name) => supervisor.send(`boot ${name}`, `up ${name}`)))
  } catch (error) {
    const logs = names.map((name) => readFileSync(path.join(root, 'nodes', name, 'log'), { encoding: 'utf8', flag: 'a+' }).trim())
    throw new Error(`${(error as Error).message} ${[...new Set(logs)].join(' ').slice(0, 2000)}`.trim())
  }
  supervisor.unref()
  return supervisor
}

/** Mount options of a node's disk. The size is a limit; a tmpfs uses memory only for written data. */
export const diskOptions = 'size=800g,nr_inodes=1m,mode=755'

const nodeDir = (name: string) => `/run/lab/nodes/${name}`

/** Path of the lab's tmpfs from outside its mount namespace. */
export function labRoot(state: LabState): string {
  return `/proc/${state.supervisors[0]!.pid}/root/run/lab`
}

type Host = (NodeState & { bastion?: undefined }) | { name: string; host: string; bastion: true }

function buildHost(root: string, state: LabState, host: Host, identity: LabIdentity): void {
  const dir = path.join(root, 'nodes', host.name)
  for (const name of [
    'disk',
    'root',
    'layer',
    'sys',
    'sysreal',
    'proc/driver',
    ...state.folders.map((shown) => `layer${shown.path}`),
    ...(state.sharedFolder ? ['layer/mnt/shared'] : []),
  ])
    mkdirSync(path.join(dir, name), { recursive: true })
  const files = host.bastion ? [] : hardwareFiles(host)
  const under = (top: string) =>
    files.filter((file) => file.path.startsWith(`${top}/`)).map((file) => ({ ...file, path: file.path.slice(top.length) }))
  writeFiles(path.join(dir, 'sys'), under('/sys'))
  writeFiles(path.join(dir, 'proc'), under('/proc'))
  writeFiles(path.join(dir, 'layer'), [
    ...files.filter((file) => !/^\/(sys|proc)\//.test(file.path)),
    ...identityFiles(state, host, identity),
    ...(state.slurm ? slurmNodeFiles(state.slurm, host.name) : []),
  ])
  if (!host.bastion && !host.python) hidePaths(path.join(dir, 'layer'), path.join(root, 'mask/.whiteout'), pythonPaths())
  const batch = host.bastion ? network.bastionBatch(state.subnet!, state.nodes) : network.nodeBatch(state.subnet!, host)
  writeFileSync(path.join(dir, 'net'), batch)
  writeFileSync(path.join(dir, 'boot_id'), '')
  writeFileSync(path.join(dir, 'fstab'), fstab(state, host))
}

function identityFiles(state: LabState, host: Host, identity: LabIdentity): FileSpec[] {
  const key = hostKeyOf(identity, host.name)
  const known = [...state.nodes, ...(state.bastion ? [state.bastion] : [])].map((other) => `${other.host} ${other.name}`)
  return [
    { path: '/etc/hostname', content: `${host.name}\n` },
    { path: '/etc/hosts', content: `127.0.0.1 localhost\n::1 localhost\n${known.join('\n')}\n` },
    {
      path: '/etc/machine-id',
      content: `${Buffer.from(`${identity.seed}-${host.name}`).toString('hex').padEnd(32, '0').slice(-32)}\n`,
    },
    { path: '/etc/ssh/ssh_host_ed25519_key', content: key.private, mode: 0o600 },
    { path: '/etc/ssh/ssh_host_ed25519_key.pub', content: `${key.public}\n` },
  ]
}

/** Mounts of a node at boot, in order. One `mount --all` instead of a dozen processes halves the boot time. */
function fstab(state: LabState, { name, bastion }: Host): string {
  const dir = nodeDir(name)
  const root = `${dir}/root`
  const lower = `${dir}/layer:/run/lab/base:/run/lab/mask:/`
  // Spaces separate the fields.
  const bind = (from: string, to: string) => `${from.replaceAll(' ', '\\040')} ${root}${to} none bind 0 0`
  return [
    `overlay ${root} overlay lowerdir=${lower},upperdir=${dir}/disk/upper,workdir=${dir}/disk/work 0 0`,
    `proc ${root}/proc proc nosuid 0 0`,
    `sysfs ${dir}/sysreal sysfs ro 0 0`,
    `sys ${root}/sys overlay lowerdir=${dir}/sys:/run/lab/sysmask:${dir}/sysreal 0 0`,
    `/run/lab/dev ${root}/dev none rbind 0 0`,
    `devpts ${root}/dev/pts devpts newinstance,ptmxmode=0666,mode=620,gid=5 0 0`,
    `tmpfs ${root}/dev/shm tmpfs mode=1777 0 0`,
    `tmpfs ${root}/run tmpfs mode=755 0 0`,
    bind(`${dir}/boot_id`, '/proc/sys/kernel/random/boot_id'),
    // A write to it would affect the host.
    ...(existsSync('/proc/sysrq-trigger') ? [bind('/dev/null', '/proc/sysrq-trigger')] : []),
    bind(`${dir}/proc/driver`, '/proc/driver'),
    ...(bastion ? [] : ['cpuinfo', 'meminfo', 'cmdline'].map((file) => bind(`${dir}/proc/${file}`, `/proc/${file}`))),
    ...state.folders.map((shown) => bind(shown.folder, shown.path).replace(' bind ', ' bind,ro ')),
    ...(state.sharedFolder ? [bind(state.sharedFolder, '/mnt/shared')] : []),
    ...slurmMounts(state.slurm, name).map(({ from, to, type }) =>
      type === 'bind' ? bind(from, to) : `tmpfs ${root}${to} tmpfs mode=755 0 0`,
    ),
    '',
  ].join('\n')
}

/** All interpreters that Ansible looks for. */
function pythonPaths(): string[] {
  return [
    '/usr/bin/python3',
    '/usr/bin/python',
    '/usr/libexec/platform-python',
    ...Array.from({ length: 20 }, (_, minor) => `/usr/bin/python3.${minor}`),
  ]
}

/** Options for newer sshd versions: since 9.8, failed logins block the client's address for a while. */
async function detectSshdOptions(): Promise<string> {
  const { stderr } = await capture(['sshd', '-V'])
  const [, major, minor] = /OpenSSH_(\d+)\.(\d+)/.exec(stderr) ?? ['', '0', '0']
  return Number(major) * 100 + Number(minor) >= 908 ? '-o PerSourcePenalties=no\n' : '\n'
}

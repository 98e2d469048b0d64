import { mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { userInfo } from 'node:os'
import path from 'node:path'
import { capture, cleanEnv, findProgram, requirePrograms, waitUntil } from '../commands.ts'
import { writeFiles } from '../files.ts'
import { toolFiles } from '../hardware.ts'
import { hostKeyOf, type LabIdentity } from '../identity.ts'
import type { PlannedNode } from '../plan.ts'
import { type LabState, type NodeState, saveState } from '../registry.ts'
import { type Supervisor, startSupervisor } from '../supervisor.ts'

/** Starts the planned nodes as sshd processes of this user. Completes and saves `state`; resolves when they listen. */
export async function startOnLoopback(state: LabState, plan: PlannedNode[], identity: LabIdentity): Promise<Supervisor> {
  requirePrograms({ sshd: 'openssh-server' })
  const sshd = findProgram('sshd')!
  // Root's sshd requires its runtime directory, which the system creates only with the service.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const username = userInfo().username
  const { sshKey, bastionKey } = state.credentials
  const unsupported = {
    sshPassword: null,
    rootKey: null,
    sudoPassword: null,
    plainPassword: null,
    rootPassword: null,
    bastionPassword: null,
  }
  const needsBastion = plan.some((node) => node.behindBastion)
  state.credentials = {
    ...unsupported,
    sshKey: { ...sshKey, username },
    bastionKey: needsBastion && bastionKey ? { ...bastionKey, username } : null,
  }
  const supervisor = await startSupervisor([
    ...(await pidNamespaceCommand()),
    '/bin/sh',
    path.join(import.meta.dirname, 'supervisor.sh'),
    sshd,
  ])
  state.supervisors = supervisor.processes
  const names = ['bastion', ...plan.map(({ name }) => name)]
  const addresses = await pickAddresses(names, identity.ports)
  state.nodes = plan.map((node, index) => ({ ...node, ...addresses[index + 1]! }))
  state.bastion = needsBastion ? { name: 'bastion', ...addresses[0]! } : null
  await saveState(state)
  const hosts: Host[] = [...state.nodes, ...(state.bastion ? [{ ...state.bastion, bastion: true as const }] : [])]
  for (const host of hosts) {
    const dir = nodeDir(state, host.name)
    const key = hostKeyOf(identity, host.name)
    identity.ports[host.name] = host.port
    for (const name of ['bin', 'home']) mkdirSync(path.join(dir, name), { recursive: true })
    writeFiles('/', host.bastion ? [] : toolFiles(host, path.join(dir, 'tools'), path.join(dir, 'bin')))
    writeFiles(dir, [
      { path: 'host_key', content: key.private, mode: 0o600 },
      { path: 'host_key.pub', content: `${key.public}\n` },
      { path: 'authorized_keys', content: (host.bastion ? bastionKey : sshKey)?.publicKey ?? '', mode: 0o600 },
      { path: 'sshd_config', content: sshdConfig(dir, host) },
    ])
    void supervisor.send(`boot ${dir}`)
  }
  await Promise.all(hosts.map((host) => waitUntilListening(state, host)))
  supervisor.unref()
  return supervisor
}

type Host = (NodeState & { bastion?: undefined }) | { name: string; host: string; port: number; bastion: true }

export const nodeDir = (state: LabState, name: string) => path.join(state.dir, 'nodes', name)

/** A node's sshd configuration, with its own keys and PATH and without the user's authorized_keys and startup files. */
export function sshdConfig(dir: string, { host, port }: { host: string; port: number }, extra = ''): string {
  return `ListenAddress ${host}:${port}
HostKey ${dir}/host_key
AuthorizedKeysFile ${dir}/authorized_keys
PidFile none
StrictModes no
UsePAM no
UseDNS no
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 1000:30:2000
MaxSessions 200
Subsystem sftp internal-sftp
SetEnv PATH=${dir}/bin:${cleanEnv.PATH} HOME=${dir}/home
${extra}`
}

/** Resolves when the node's sshd answers; throws with its log when it does not. */
export async function waitUntilListening(
  state: LabState,
  { name, host, port }: { name: string; host: string; port: number },
): Promise<void> {
  try {
    await waitUntil(`the sshd of lab node ${name}`, () => answersSsh(host, port), 10_000)
  } catch (error) {
    const log = await readFile(path.join(nodeDir(state, name), 'log'), 'utf8').catch(() => '')
    throw new Error(`${(error as Error).message} ${log.trim().slice(-500)}`.trim())
  }
}

/** Whether an SSH server answers on this port. */
export function answersSsh(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host)
    const settle = (isAnswering: boolean) => {
      socket.destroy()
      resolve(isAnswering)
    }
    socket.once('data', () => settle(true)).once('error', () => settle(false))
    socket.setTimeout(1000, () => settle(false))
  })
}

/** Command prefix that runs the lab in its own pid namespace, where possible, so that all its processes end together. */
async function pidNamespaceCommand(): Promise<string[]> {
  if (!findProgram('unshare') || !findProgram('setpriv')) return []
  // Root's sshd switches users, which a user namespace with a single user does not allow.
  const userNamespace = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user']
  const argv = ['unshare', ...userNamespace, '--pid', '--fork', '--kill-child']
  const { code } = await capture([...argv, 'true'])
  return ['setpriv', '--pdeathsig', 'KILL', ...(code === 0 ? argv : [])]
}

/** Distinct addresses in 127/8 on Linux; on other systems 127.0.0.1 with distinct ports. */
async function pickAddresses(names: string[], ports: Record<string, number>): Promise<{ host: string; port: number }[]> {
  return Promise.all(
    names.map(async (name, index) => {
      const host = process.platform === 'linux' ? `127.77.0.${index + 1}` : '127.0.0.1'
      return { host, port: await freePort(host, ports[name] ?? 0).catch(() => freePort(host, 0)) }
    }),
  )
}

/** @param wanted 0: any. @throws Error it is in use */
function freePort(host: string, wanted: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(wanted, host, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

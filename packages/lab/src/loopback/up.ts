import { mkdirSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { userInfo } from 'node:os'
import path from 'node:path'
import { capture, findProgram, plainEnv, requirePrograms, until } from '../commands.ts'
import { writeFiles } from '../files.ts'
import { toolFiles } from '../hardware.ts'
import { type Keeper, startKeeper } from '../keeper.ts'
import { newKeyPair } from '../keys.ts'
import type { PlannedNode } from '../plan.ts'
import { type LabState, type NodeState, saveState } from '../registry.ts'

/** Brings the planned nodes up as sshd processes of this user. Fills in and saves `state`; returns when they listen. */
export async function upOnLoopback(state: LabState, plan: PlannedNode[]): Promise<Keeper> {
  requirePrograms({ sshd: 'openssh-server' })
  const sshd = findProgram('sshd')!
  // Root's sshd insists on its usual run-time directory, which the system makes only when the service starts.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true, mode: 0o755 })
  const username = userInfo().username
  const { sshKey, bastionKey } = state.credentials
  const nothing = {
    sshPassword: null,
    rootKey: null,
    sudoPassword: null,
    plainPassword: null,
    rootPassword: null,
    bastionPassword: null,
  }
  const wantsBastion = plan.some((node) => node.behindBastion)
  state.credentials = {
    ...nothing,
    sshKey: { ...sshKey, username },
    bastionKey: wantsBastion && bastionKey ? { ...bastionKey, username } : null,
  }
  const keeper = await startKeeper([...(await wrapper()), '/bin/sh', path.join(import.meta.dirname, 'keeper.sh'), sshd])
  state.keepers = keeper.refs
  const addresses = await freeAddresses(plan.length + 1)
  state.nodes = plan.map((node, index) => ({ ...node, ...addresses[index + 1]! }))
  state.bastion = wantsBastion ? { name: 'bastion', ...addresses[0]! } : null
  await saveState(state)
  const hosts: Host[] = [...state.nodes, ...(state.bastion ? [{ ...state.bastion, bastion: true as const }] : [])]
  for (const host of hosts) {
    const dir = nodeDir(state, host.name)
    const key = newKeyPair(host.name)
    for (const name of ['bin', 'home']) mkdirSync(path.join(dir, name), { recursive: true })
    writeFiles('/', host.bastion ? [] : toolFiles(host, path.join(dir, 'tools'), path.join(dir, 'bin')))
    writeFiles(dir, [
      { path: 'host_key', content: key.private, mode: 0o600 },
      { path: 'host_key.pub', content: `${key.public}\n` },
      { path: 'authorized_keys', content: (host.bastion ? bastionKey : sshKey)?.publicKey ?? '', mode: 0o600 },
      { path: 'sshd_config', content: sshdConfig(dir, host) },
    ])
    void keeper.ask(`boot ${dir}`)
  }
  await Promise.all(hosts.map((host) => listening(state, host)))
  keeper.release()
  return keeper
}

type Host = (NodeState & { bastion?: undefined }) | { name: string; host: string; port: number; bastion: true }

export const nodeDir = (state: LabState, name: string) => path.join(state.dir, 'nodes', name)

/** The sshd of a node. Own keys and PATH, nothing of the user's: neither their authorized_keys nor their start-up files. */
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
SetEnv PATH=${dir}/bin:${plainEnv.PATH} HOME=${dir}/home
${extra}`
}

/** Resolves when the node's sshd speaks; throws with its log when it does not. */
export async function listening(
  state: LabState,
  { name, host, port }: { name: string; host: string; port: number },
): Promise<void> {
  try {
    await until(`the sshd of lab node ${name}`, () => greets(host, port), 10_000)
  } catch (error) {
    const log = await readFile(path.join(nodeDir(state, name), 'log'), 'utf8').catch(() => '')
    throw new Error(`${(error as Error).message} ${log.trim().slice(-500)}`.trim())
  }
}

/** Whether an SSH server speaks there. */
export function greets(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, host)
    const settle = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('data', () => settle(true)).once('error', () => settle(false))
    socket.setTimeout(1000, () => settle(false))
  })
}

/** What makes all processes of the lab end at once, where the system lets users have it: a pid namespace of their own. */
async function wrapper(): Promise<string[]> {
  if (!findProgram('unshare') || !findProgram('setpriv')) return []
  // Root's sshd changes users, for which a user namespace with one user in it has no room.
  const own = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user']
  const argv = ['unshare', ...own, '--pid', '--fork', '--kill-child']
  const { code } = await capture([...argv, 'true'])
  return ['setpriv', '--pdeathsig', 'KILL', ...(code === 0 ? argv : [])]
}

/** Distinct addresses of 127/8 on Linux; elsewhere only 127.0.0.1 is there, and the ports differ. */
async function freeAddresses(count: number): Promise<{ host: string; port: number }[]> {
  const hosts = Array.from({ length: count }, (_, index) =>
    process.platform === 'linux' ? `127.77.0.${index + 1}` : '127.0.0.1',
  )
  return Promise.all(hosts.map(async (host) => ({ host, port: await freePort(host) })))
}

function freePort(host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject)
    server.listen(0, host, () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

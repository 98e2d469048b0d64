import { execFile, spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import pLimit from 'p-limit'
import { socketPaths } from '../run-directory/run-paths.ts'
import type { LaunchOptions } from './ansible-process.ts'
import { killProcesses } from './processes.ts'

const CONCURRENCY = 16
const TIMEOUT_MS = 5000

/** SSH options that use an existing control master and never open a new connection. */
const controlMasterOptions = (socket: string) => [
  '-F',
  'none',
  '-o',
  `ControlPath=${socket}`,
  '-o',
  'ControlMaster=no',
  '-o',
  'BatchMode=yes',
  '-o',
  'ProxyCommand=false',
]

/**
 * Connects to the bastions while ansible-playbook starts, so that its connections share one: a bastion's sshd drops the eleventh
 * unauthenticated connection (MaxStartups). A failure here is reported later, when Ansible connects itself.
 * @returns stops the attempts in progress and returns whether there were any
 */
export function openControlMasters(
  sshDir: string,
  aliases: string[],
  { wrapCommand, env }: Omit<LaunchOptions, 'isolation'>,
): () => boolean {
  const children = aliases.map((alias) => {
    const [file, ...args] = wrapCommand(['ssh', '-F', `${sshDir}/config`, '-f', '-N', alias])
    return spawn(file!, args, { stdio: 'ignore', env })
  })
  for (const child of children) child.on('error', () => {})
  return () => children.map((child) => child.kill()).includes(true)
}

/** Closes every SSH connection that a run holds open. */
export async function closeControlMasters(sshDir: string): Promise<void> {
  const { masters } = socketPaths(sshDir)
  const sockets = await readdir(masters).catch(() => [])
  if (sockets.length === 0) return
  const failed: string[] = []
  await mapLimit(sockets, async (name) => {
    if (!(await succeeds('ssh', [...controlMasterOptions(`${masters}/${name}`), '-O', 'exit', 'x']))) failed.push(name)
  })
  // A master that does not respond, or is still connecting. Its command line contains its socket.
  if (failed.length > 0) await killProcesses(`${masters}/`)
}

/**
 * Runs a command on a node over the run's connection to it.
 * @returns false when the connection is gone or the command takes too long
 */
export function execOverControlMaster(sshDir: string, alias: string, command: string, stdin: string): Promise<boolean> {
  return new Promise((resolve) => {
    const args = [...controlMasterOptions(`${socketPaths(sshDir).masters}/${alias}`), 'x', command]
    const child = spawn('ssh', args, { stdio: ['pipe', 'ignore', 'ignore'], timeout: TIMEOUT_MS, killSignal: 'SIGKILL' })
    child.on('error', () => resolve(false))
    child.on('exit', (code) => resolve(code === 0))
    child.stdin.on('error', () => {})
    child.stdin.end(stdin)
  })
}

/** Runs `work` for every item, at most 16 at once, because each starts a process. */
export const mapLimit = <T>(items: T[], work: (item: T) => Promise<unknown>): Promise<unknown[]> =>
  pLimit(CONCURRENCY).map(items, work)

function succeeds(file: string, args: string[]): Promise<boolean> {
  return new Promise((resolve) =>
    execFile(file, args, { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' }, (error) => resolve(error === null)),
  )
}

import { execFile, spawn } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import type { Start } from './child.ts'
import { endProcessesWith } from './processes.ts'
import { socketPaths } from './run-files.ts'

const AT_ONCE = 16
const TIMEOUT_MS = 5000

/** Run ssh over an existing master connection; never opens a new one. */
const overMaster = (socket: string) => [
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
 * Connect to the bastions while ansible-playbook still starts up, so that its many connections find one already open: a
 * bastion's sshd drops the eleventh that has not logged in yet (MaxStartups). One that fails here fails again, and says so, later.
 * @returns ends what is still connecting, and says whether anything was
 */
export function openMasters(sshDir: string, aliases: string[], { enter, env }: Omit<Start, 'isolation'>): () => boolean {
  const children = aliases.map((alias) => {
    const [file, ...args] = enter(['ssh', '-F', `${sshDir}/config`, '-f', '-N', alias])
    return spawn(file!, args, { stdio: 'ignore', env })
  })
  for (const child of children) child.on('error', () => {})
  return () => children.map((child) => child.kill()).includes(true)
}

/** Close every ssh connection that a run holds open, and make sure that none is left. */
export async function closeMasters(sshDir: string): Promise<void> {
  const { masters } = socketPaths(sshDir)
  const sockets = await readdir(masters).catch(() => [])
  if (sockets.length === 0) return
  const failed: string[] = []
  await inTurns(sockets, async (name) => {
    if (!(await succeeds('ssh', [...overMaster(`${masters}/${name}`), '-O', 'exit', 'x']))) failed.push(name)
  })
  // One that does not answer, or was just being made. Its command line names its socket.
  if (failed.length > 0) await endProcessesWith(`${masters}/`)
}

/**
 * Run a command line on a node over the connection that the run has to it. @returns false when there is none (any more) or it
 * takes too long
 */
export function execOverMaster(sshDir: string, alias: string, command: string, stdin: string): Promise<boolean> {
  return new Promise((resolve) => {
    const args = [...overMaster(`${socketPaths(sshDir).masters}/${alias}`), 'x', command]
    const child = spawn('ssh', args, { stdio: ['pipe', 'ignore', 'ignore'], timeout: TIMEOUT_MS, killSignal: 'SIGKILL' })
    child.on('error', () => resolve(false))
    child.on('exit', (code) => resolve(code === 0))
    child.stdin.on('error', () => {})
    child.stdin.end(stdin)
  })
}

/** At most 16 at once, because each is a process. */
export async function inTurns<T>(items: T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const rest = items.values()
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const item of rest) await work(item)
    }),
  )
}

function succeeds(file: string, args: string[]): Promise<boolean> {
  return new Promise((resolve) =>
    execFile(file, args, { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' }, (error) => resolve(error === null)),
  )
}

import { readdir } from 'node:fs/promises'
import pLimit from 'p-limit'
import { type Program, startProgram } from '../../executor/executor.ts'
import { sendSignal } from '../../executor/send-signal.ts'
import type { WrapCommand } from '../isolation/isolation.ts'
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
  const connecting = new Set<Program>()
  let isStopped = false
  for (const alias of aliases)
    startProgram(wrapCommand(['ssh', '-F', `${sshDir}/config`, '-f', '-N', alias]), { env, outputs: 0 }).then(
      (program) => {
        connecting.add(program)
        void program.exited.then(() => connecting.delete(program))
        if (isStopped) program.kill('SIGTERM')
      },
      () => {},
    )
  return () => {
    isStopped = true
    for (const program of connecting) program.kill('SIGTERM')
    return connecting.size > 0
  }
}

/**
 * A run's SSH directory, and how its commands are started. Clients of control masters run in the isolation of the run too, because
 * a playbook can replace the sockets that they connect to.
 */
export type MastersOfRun = { sshDir: string; wrapCommand: WrapCommand; env: NodeJS.ProcessEnv }

/** Closes every SSH connection that a run holds open. */
export async function closeControlMasters({ sshDir, wrapCommand, env }: MastersOfRun): Promise<void> {
  const { masters } = socketPaths(sshDir)
  const names = await readdir(masters).catch(() => [])
  // Other names are not from SSH.
  const sockets = names.filter((name) => /^[\w-]+$/.test(name)).map((name) => `${masters}/${name}`)
  if (sockets.length === 0) return
  const client = `ssh ${controlMasterOptions('{}').join(' ')} -O exit x`
  const script = `printf '%s\\n' "$@" | xargs -P ${CONCURRENCY} -I '{}' ${client}`
  const { code } = await isolated(['sh', '-c', script, 'sh', ...sockets], { wrapCommand, env })
  // A master that does not respond, or is still connecting. Its command line contains its socket.
  if (code !== 0) await killProcesses(`${masters}/`)
}

/**
 * Runs a command on a node over the run's connection to it.
 * @returns false when the connection is gone or the command takes too long
 */
export async function execOverControlMaster(
  { sshDir, ...launch }: MastersOfRun,
  alias: string,
  command: string,
  stdin: string,
): Promise<boolean> {
  const argv = ['ssh', ...controlMasterOptions(`${socketPaths(sshDir).masters}/${alias}`), 'x', command]
  return (await isolated(argv, { ...launch, stdin })).code === 0
}

/** Runs `work` for every item, at most 16 at once, because each starts a process. */
export const mapLimit = <T>(items: T[], work: (item: T) => Promise<unknown>): Promise<unknown[]> =>
  pLimit(CONCURRENCY).map(items, work)

/** Runs a command without reading its output. One that takes too long is killed with the rest of the run. */
async function isolated(
  argv: string[],
  { wrapCommand, env, stdin }: { wrapCommand: WrapCommand; env: NodeJS.ProcessEnv; stdin?: string },
): Promise<{ code: number | null }> {
  try {
    const program = await startProgram(wrapCommand(argv), { env, outputs: 0, ...(stdin === undefined ? {} : { stdin }) })
    const timer = setTimeout(() => sendSignal(-program.pid, 'SIGKILL'), TIMEOUT_MS)
    return await program.exited.finally(() => clearTimeout(timer))
  } catch {
    return { code: null }
  }
}

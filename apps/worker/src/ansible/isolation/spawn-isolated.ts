import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Isolation, WrapCommand } from './isolation.ts'

const PID_FD = 4

/**
 * Starts a command in a run's isolation, with pipes at the descriptors 1 to 3.
 * @returns `child`, which exits when the command does; `leader`, the PID of the command and of its process group; and `exited`, the
 * exit code, or 128 + the signal number. A monitor process is in another group, so that signals to the command do not end it.
 * @throws Error of spawn, for example ENOENT
 */
export async function spawnIsolated(
  argv: string[],
  cwd: string,
  { isolation, wrapCommand, env }: { isolation: Pick<Isolation, 'hasMonitor'>; wrapCommand: WrapCommand; env: NodeJS.ProcessEnv },
): Promise<{ child: ChildProcess; leader: Promise<number>; exited: Promise<number> }> {
  const { hasMonitor } = isolation
  const [file, ...args] = wrapCommand(argv, hasMonitor ? PID_FD : undefined)
  const stdio: 'pipe'[] = hasMonitor ? ['pipe', 'pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe']
  const child = spawn(file!, args, { cwd, env, detached: true, stdio: ['ignore', ...stdio] })
  // Listen at once: a short command may exit before its monitor reports the PID.
  const exited = new Promise<number>((resolve) => {
    child.once('exit', (code, by) => resolve(code ?? 128 + (by ? constants.signals[by] : 0)))
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  child.on('error', () => {})
  const info = hasMonitor ? text(child.stdio[PID_FD] as Readable).catch(() => '') : Promise.resolve('')
  const leader = info.then((text) => Number(/"child-pid": (\d+)/.exec(text)?.[1] ?? child.pid))
  return { child, leader, exited }
}

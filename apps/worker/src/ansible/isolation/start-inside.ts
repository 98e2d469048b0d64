import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { Enter, Isolation } from './isolation.ts'

const PID_FD = 4

/**
 * Start a command inside of a run's isolation, with pipes at the descriptors 1 to 3.
 * @returns `child`, whose end is the command's, and `leader`, the pid of the command and of its process group. Where a monitor stands
 * between, the monitor is in another group: a signal to the command does not end who tells us how it ends. `exited` is the exit code,
 * or 128 + the number of the signal that ended it
 * @throws Error of spawn, for example ENOENT
 */
export async function startInside(
  argv: string[],
  cwd: string,
  { isolation, enter, env }: { isolation: Pick<Isolation, 'hasMonitor'>; enter: Enter; env: NodeJS.ProcessEnv },
): Promise<{ child: ChildProcess; leader: Promise<number>; exited: Promise<number> }> {
  const { hasMonitor } = isolation
  const [file, ...args] = enter(argv, hasMonitor ? PID_FD : undefined)
  const stdio: 'pipe'[] = hasMonitor ? ['pipe', 'pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe']
  const child = spawn(file!, args, { cwd, env, detached: true, stdio: ['ignore', ...stdio] })
  // Whoever starts it has to listen at once: one that is soon done may end before its monitor has said which it is.
  const exited = new Promise<number>((resolve) => {
    child.once('exit', (code, by) => resolve(code ?? 128 + (by ? constants.signals[by] : 0)))
  })
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve)
    child.once('error', reject)
  })
  child.on('error', () => {})
  const told = hasMonitor ? text(child.stdio[PID_FD] as Readable).catch(() => '') : Promise.resolve('')
  const leader = told.then((said) => Number(/"child-pid": (\d+)/.exec(said)?.[1] ?? child.pid))
  return { child, leader, exited }
}

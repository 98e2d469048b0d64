import { constants } from 'node:os'
import { text } from 'node:stream/consumers'
import { type Program, startProgram } from '../../executor/executor.ts'
import type { Isolation, WrapCommand } from './isolation.ts'

const PID_FD = 4

/**
 * Starts a command in a run's isolation, with pipes at the descriptors 1 to 3.
 * @returns `program`, which exits when the command does; `leader`, the PID of the process group of the command, which is the init of its
 * PID namespace when it has one; and `exited`, the exit code, or 128 + the signal number. The init ignores all signals but SIGKILL,
 * which ends everything in the namespace. The monitor process is in another group.
 * @throws Error of spawn, for example ENOENT
 */
export async function spawnIsolated(
  argv: string[],
  cwd: string,
  {
    isolation,
    wrapCommand,
    env,
  }: { isolation: Pick<Isolation, 'hasPidNamespace'>; wrapCommand: WrapCommand; env: NodeJS.ProcessEnv },
): Promise<{ program: Program; leader: Promise<number>; exited: Promise<number> }> {
  const { hasPidNamespace } = isolation
  const outputs = hasPidNamespace ? PID_FD : PID_FD - 1
  const program = await startProgram(wrapCommand(argv, hasPidNamespace ? PID_FD : undefined), { cwd, env, outputs })
  const info = hasPidNamespace ? text(program.outputs[PID_FD - 1]!).catch(() => '') : Promise.resolve('')
  const leader = info.then((text) => Number(/"child-pid": (\d+)/.exec(text)?.[1] ?? program.pid))
  const exited = program.exited.then(({ code, signal }) => code ?? 128 + (signal ? constants.signals[signal] : 0))
  return { program, leader, exited }
}

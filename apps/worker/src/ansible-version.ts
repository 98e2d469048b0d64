import { isAbsolute } from 'node:path'
import { type Result, runProgram } from './executor/executor.ts'

const MIN_VERSION = [2, 14] as const
const TIMEOUT_MS = 30_000

/** Paths of an Ansible installation; null when `--version` does not print one. */
export type AnsiblePaths = { executable: string | null; python: string | null; modules: string | null }

/**
 * Detects the version and the paths of the ansible-core behind `executable`.
 * @throws Error with the next step when it is missing, does not start, or is too old
 */
export async function detectAnsible(executable: string): Promise<AnsiblePaths & { version: string }> {
  const advice = `Install ansible-core >= ${MIN_VERSION.join('.')}, or set ANSIBLE_PLAYBOOK to the path of its ansible-playbook.`
  let result: Result
  try {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, LC_ALL: 'C.UTF-8' }
    result = await runProgram([executable, '--version'], { timeoutMs: TIMEOUT_MS, env })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(
      code === 'ENOENT' ? `There is no ${executable}. ${advice}` : `${executable} cannot be started (${code}). ${advice}`,
    )
  }
  const { code, signal, stdout: output, stderr, timedOut } = result
  if (timedOut)
    throw new Error(
      `${executable} --version did not finish within ${TIMEOUT_MS / 1000} s. Start the worker again when the machine is less busy.`,
    )
  if (code !== 0) throw new Error(`${executable} --version failed (${code ?? signal}): ${stderr.trim().slice(-300)}. ${advice}`)
  // `ansible-playbook [core 2.19.4]`
  const version = /\[core (\d+)\.(\d+)[^\]]*\]/.exec(output)
  if (!version) throw new Error(`${executable} --version prints no version of ansible-core. ${advice}`)
  const [major, minor] = [Number(version[1]), Number(version[2])]
  const text = version[0].slice(6, -1)
  if (major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1]))
    throw new Error(`ansible-core ${text} is too old. ${advice}`)
  const path = (line: RegExp) => line.exec(output)?.[1] ?? null
  return {
    version: text,
    executable: path(/^ {2}executable location = (\/.+)$/m) ?? (isAbsolute(executable) ? executable : null),
    python: path(/^ {2}python version = .*\((\/.+)\)$/m),
    modules: path(/^ {2}ansible python module location = (\/.+)$/m),
  }
}

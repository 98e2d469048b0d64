import { execFile } from 'node:child_process'
import { isAbsolute } from 'node:path'
import { promisify } from 'node:util'

const OLDEST = [2, 14] as const
const TIMEOUT_MS = 30_000

/** Where an Ansible lies: its ansible-playbook, its Python, and the folder of its modules. Null: it does not say. */
export type AnsiblePaths = { executable: string | null; python: string | null; modules: string | null }

/**
 * The ansible-core behind `executable`: its version, and where it lies.
 * @throws Error that says what to do when it is missing, does not start, or is too old
 */
export async function lookAtAnsible(executable: string): Promise<AnsiblePaths & { version: string }> {
  const advice = `Install ansible-core >= ${OLDEST.join('.')}, or name its ansible-playbook in ANSIBLE_PLAYBOOK.`
  let said: string
  try {
    const env = { PATH: process.env.PATH, HOME: process.env.HOME, LC_ALL: 'C.UTF-8' }
    said = (await promisify(execFile)(executable, ['--version'], { timeout: TIMEOUT_MS, env })).stdout
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string }
    if (code === 'ENOENT') throw new Error(`There is no ${executable}. ${advice}`)
    throw new Error(`${executable} --version failed (${code}): ${String(stderr).trim().slice(-300)}. ${advice}`)
  }
  // `ansible-playbook [core 2.19.4]`
  const version = /\[core (\d+)\.(\d+)[^\]]*\]/.exec(said)
  if (!version) throw new Error(`${executable} --version said no version of ansible-core. ${advice}`)
  const [major, minor] = [Number(version[1]), Number(version[2])]
  const text = version[0].slice(6, -1)
  if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1]))
    throw new Error(`ansible-core ${text} is too old. ${advice}`)
  const path = (line: RegExp) => line.exec(said)?.[1] ?? null
  return {
    version: text,
    executable: path(/^ {2}executable location = (\/.+)$/m) ?? (isAbsolute(executable) ? executable : null),
    python: path(/^ {2}python version = .*\((\/.+)\)$/m),
    modules: path(/^ {2}ansible python module location = (\/.+)$/m),
  }
}

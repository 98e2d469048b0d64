import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import type { ExecResult } from './types.ts'

/** What the lab's own programs get for an environment: nothing of the caller's. */
export const plainEnv = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8', HOME: '/root' }

/** Runs argv to its end. A non-zero exit code is an answer; only a program that cannot be started throws. */
export function capture(argv: string[], input = ''): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(argv[0]!, argv.slice(1), { env: plainEnv, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 255, stdout, stderr }))
    // The program may end without reading its input.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/** Runs argv and throws with what it said on stderr when it fails. */
export async function must(argv: string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await capture(argv, input)
  if (code !== 0) throw new Error(`${argv.join(' ')} failed with ${code}: ${(stderr || stdout).trim()}`)
  return stdout
}

/** Where the program is, looking where root's own programs lie as well; null if nowhere. */
export function findProgram(name: string): string | null {
  for (const dir of plainEnv.PATH.split(':')) {
    try {
      accessSync(path.join(dir, name), constants.X_OK)
      return path.join(dir, name)
    } catch {}
  }
  return null
}

/** Throws naming the Debian packages that are missing for these programs. */
export function requirePrograms(packageOf: Record<string, string>): void {
  const missing = Object.keys(packageOf).filter((program) => findProgram(program) === null)
  if (missing.length === 0) return
  const packages = [...new Set(missing.map((program) => packageOf[program]!))].join(' ')
  throw new Error(`The lab needs ${missing.join(', ')}, which this machine lacks. Install: apt-get install -y ${packages}`)
}

/** Asks again every few milliseconds until the answer is neither null nor false; throws with `what` after the time. */
export async function until<T>(what: string, ask: () => T | Promise<T>, timeoutMs = 30_000): Promise<NonNullable<T>> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== null && answer !== undefined && answer !== false) return answer
    if (performance.now() > end) throw new Error(`Waited ${timeoutMs / 1000} s for ${what}, in vain.`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

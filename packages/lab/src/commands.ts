import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import type { ExecResult } from './types.ts'

/** Environment of programs that the lab starts, independent of the caller's. */
export const cleanEnv = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LANG: 'C.UTF-8', HOME: '/root' }

/** Runs argv to completion. Returns non-zero exit codes; throws only when the program cannot be started. */
export function capture(argv: string[], input = ''): Promise<ExecResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(argv[0]!, argv.slice(1), { env: cleanEnv, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'] })
    let [stdout, stderr] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code: code ?? 255, stdout, stderr }))
    // The program may exit without reading its input.
    child.stdin.on('error', () => {})
    child.stdin.end(input)
  })
}

/** Runs argv and returns its stdout. Throws with its stderr when it fails. */
export async function runChecked(argv: string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await capture(argv, input)
  if (code !== 0) throw new Error(`${argv.join(' ')} failed with ${code}: ${(stderr || stdout).trim()}`)
  return stdout
}

/** Path of a program, also searched in the sbin folders; null when it is not installed. */
export function findProgram(name: string): string | null {
  for (const dir of cleanEnv.PATH.split(':')) {
    try {
      accessSync(path.join(dir, name), constants.X_OK)
      return path.join(dir, name)
    } catch {}
  }
  return null
}

/** Throws with the Debian packages to install when one of these programs is missing. */
export function requirePrograms(packageOf: Record<string, string>): void {
  const missing = Object.keys(packageOf).filter((program) => findProgram(program) === null)
  if (missing.length === 0) return
  const packages = [...new Set(missing.map((program) => packageOf[program]!))].join(' ')
  throw new Error(`The lab requires ${missing.join(', ')}. Install: apt-get install -y ${packages}`)
}

/** Polls `check` until it returns something other than null, undefined and false. Throws with `what` after the timeout. */
export async function waitUntil<T>(what: string, check: () => T | Promise<T>, timeoutMs = 30_000): Promise<NonNullable<T>> {
  const end = performance.now() + timeoutMs
  for (;;) {
    const result = await check()
    if (result !== null && result !== undefined && result !== false) return result
    if (performance.now() > end) throw new Error(`Timed out after ${timeoutMs / 1000} s waiting for ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

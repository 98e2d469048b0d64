import type { NodeAccess } from '@muster/core/credentials/access'
import { isSupportedPython, MIN_PYTHON } from '@muster/core/nodes'
import type { ExecResult } from './exec.ts'
import { printable } from './printable.ts'

/** The meaning of a result line of the account script, for the operator. */
export type CheckResult = { isOk: true; detail: string } | { isOk: false; message: string; hint: string }

const SLOW_SHELL_MS = 2000
const ok = (detail: string): CheckResult => ({ isOk: true, detail })
const failed = (message: string, hint: string): CheckResult => ({ isOk: false, message, hint })
const quote = (text: string) => JSON.stringify(text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 160))

/** Warnings about a working shell. @param noise its output before the command @param ms time until its first result */
export function shellHint(noise: string, ms: number): string | null {
  const hints: string[] = []
  if (noise) hints.push(`Its shell prints ${quote(noise)} before every command: make the rc files print nothing for commands.`)
  if (ms > SLOW_SHELL_MS) hints.push(`Its shell takes ${(ms / 1000).toFixed(1)} s to start: check its rc files.`)
  return hints.join(' ') || null
}

/** Why a shell produced no result. @param result null after a timeout of `timeoutMs` */
export function shellFailure(result: ExecResult | null, output: string, timeoutMs: number): [message: string, hint: string] {
  if (!result)
    return [
      `The shell ran no command within ${timeoutMs / 1000} s.`,
      'Check the rc files of the account, and its home directory if it is on a network file system.',
    ]
  if (result.truncated) return [`The shell prints without end: ${quote(output)}.`, 'Check the rc files of the account.']
  const words = `${output} ${result.stderr.toString('utf8')}`.trim()
  return [
    `The account cannot run commands (exit code ${result.code ?? printable(`${result.signal}`, 40)}${words ? `, output ${quote(words)}` : ''}).`,
    'Give it a normal shell, and no forced command for this key.',
  ]
}

/** Input: `already`, `absent`, or the exit code and the output. */
export function becomeResult({ method, user, password }: NodeAccess['become'], [code, ...words]: string[]): CheckResult {
  const output = words.join(' ').trim()
  if (code === 'already') return ok(`already ${user}`)
  if (code === '0') return ok(`${method} to ${user}${password === null ? '' : ' with a password'}`)
  if (code === 'absent') return failed(`${method} is not installed.`, 'Install it, or sign in as root.')
  // timeout(1) exits with 124 on a timeout.
  if (code === '124')
    return failed(`${method} did not respond in time.`, 'It may wait for an LDAP or DNS server that does not respond.')
  const hint = /try again|incorrect password|authentication failure/i.test(output)
    ? 'Check the password of the become credential.'
    : /password is required|no password was provided/i.test(output)
      ? 'Give the node a become credential, or allow it without a password (NOPASSWD).'
      : /must have a tty|no tty present/i.test(output)
        ? 'Remove requiretty from its sudoers file.'
        : 'Check its sudoers file.'
  return failed(`${method} to ${user} was rejected: ${quote(output)}.`, hint)
}

/** Input: `absent`, `broken`, or a version and the interpreter's path. */
export function pythonResult([version, path]: string[]): CheckResult {
  const oldest = MIN_PYTHON.join('.')
  if (version === 'absent')
    return failed('Python is not installed.', `Playbooks need Python ${oldest} or newer; discovery needs none.`)
  if (!version || !/^\d+\.\d/.test(version)) return failed('Its Python does not start.', `Install Python ${oldest} or newer.`)
  if (!isSupportedPython(version))
    return failed(`Python ${version} at ${path} is too old.`, `Install Python ${oldest} or newer beside it.`)
  return ok(`${version} at ${path}`)
}

/** Input: `ok HOME`, `missing MODULES`, or `unwritable HOME REASON`. */
export function ansibleResult([state, what, ...words]: string[]): CheckResult {
  if (state === 'ok') return ok(`can write to ${what}`)
  if (state === 'missing')
    return failed(
      `Its Python lacks ${what?.replaceAll(',', ', ')}.`,
      'Install the complete standard library (Debian: python3, not python3-minimal).',
    )
  return failed(
    `Cannot write to ${what}: ${words.join(' ')}.`,
    'Ansible stores temporary files there: free disk space, or make it writable.',
  )
}

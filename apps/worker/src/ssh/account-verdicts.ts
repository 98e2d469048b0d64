import type { NodeAccess } from '@muster/core/credentials/access'
import { isFitPython, OLDEST_PYTHON } from './account-script.ts'
import type { ExecResult } from './exec.ts'

/** What an answer of the account script means to the operator. */
export type Verdict = { isOk: true; detail: string } | { isOk: false; message: string; hint: string }

const SLOW_SHELL_MS = 2000
const ok = (detail: string): Verdict => ({ isOk: true, detail })
const bad = (message: string, hint: string): Verdict => ({ isOk: false, message, hint })
const quote = (text: string) => JSON.stringify(text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, 160))

/** What is odd about a shell that works. @param noise what it printed before the command; `ms` until its first answer */
export function shellHint(noise: string, ms: number): string | null {
  const hints: string[] = []
  if (noise) hints.push(`Its shell prints ${quote(noise)} before every command: let the rc files be silent for commands.`)
  if (ms > SLOW_SHELL_MS) hints.push(`Its shell takes ${(ms / 1000).toFixed(1)} s to start: look at its rc files.`)
  return hints.join(' ') || null
}

/** Why a shell gave no answer. @param result null when it was given up on after `timeoutMs` */
export function shellRefusal(result: ExecResult | null, said: string, timeoutMs: number): [message: string, hint: string] {
  if (!result)
    return [
      `The shell ran no command within ${timeoutMs / 1000} s.`,
      'Look at the rc files of the account, and at its home directory if that is on a network.',
    ]
  if (result.truncated) return [`The shell prints without end: ${quote(said)}.`, 'Look at the rc files of the account.']
  const words = `${said} ${result.stderr.toString('utf8')}`.trim()
  return [
    `The account cannot run commands (exit code ${result.code ?? result.signal}${words ? `, it said ${quote(words)}` : ''}).`,
    'Give it a normal shell, and no forced command for this key.',
  ]
}

/** `already`, `absent`, or the exit code and what was said. */
export function becomeVerdict({ method, user, password }: NodeAccess['become'], [code, ...words]: string[]): Verdict {
  const said = words.join(' ').trim()
  if (code === 'already') return ok(`already ${user}`)
  if (code === '0') return ok(`${method} to ${user}${password === null ? '' : ' with a password'}`)
  if (code === 'absent') return bad(`${method} is not installed.`, 'Install it, or sign in as root.')
  // timeout(1) ends with 124 when the time is over.
  if (code === '124') return bad(`${method} did not answer in time.`, 'It may wait for an LDAP or DNS that does not answer.')
  const hint = /try again|incorrect password|authentication failure/i.test(said)
    ? 'Check the password of the become credential.'
    : /password is required|no password was provided/i.test(said)
      ? 'Give the node a become credential, or allow it without a password (NOPASSWD).'
      : /must have a tty|no tty present/i.test(said)
        ? 'Take requiretty out of its sudoers file.'
        : 'Check its sudoers file.'
  return bad(`${method} to ${user} is refused: ${quote(said)}.`, hint)
}

/** `absent`, `broken`, or a version and the interpreter's path. */
export function pythonVerdict([version, path]: string[]): Verdict {
  const oldest = OLDEST_PYTHON.join('.')
  if (version === 'absent')
    return bad('There is no Python.', `Playbooks need Python ${oldest} or newer; looking at its hardware needs none.`)
  if (!version || !/^\d+\.\d/.test(version)) return bad('Its Python does not start.', `Install Python ${oldest} or newer.`)
  if (!isFitPython(version))
    return bad(`Python ${version} at ${path} is too old.`, `Install Python ${oldest} or newer beside it.`)
  return ok(`${version} at ${path}`)
}

/** `ok HOME`, `missing MODULES`, or `unwritable HOME WHY`. */
export function ansibleVerdict([state, what, ...words]: string[]): Verdict {
  if (state === 'ok') return ok(`can write to ${what}`)
  if (state === 'missing')
    return bad(
      `Its Python lacks ${what?.replaceAll(',', ', ')}.`,
      'Install the whole standard library (Debian: python3, not python3-minimal).',
    )
  return bad(
    `Nothing can be written to ${what}: ${words.join(' ')}.`,
    'Ansible keeps its files there while a playbook runs: make room, or make it writable.',
  )
}

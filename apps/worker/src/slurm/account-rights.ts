import { randomBytes } from 'node:crypto'
import { outputAfter, queryScript } from '@muster/slurm'
import type { QueryContext } from './run-query.ts'

/** Prints the name and ID of the account, its administrator level in Slurm, and what sudo permits it. A constant. */
export const RIGHTS_SCRIPT =
  'id -un; id -u; sacctmgr --parsable2 --noheader show user "$(id -un)" format=AdminLevel 2>/dev/null || echo; sudo -n -l 2>/dev/null'

/** The programs of actions. */
export const PROGRAMS = ['scontrol', 'scancel'] as const

/** What an account may do on a controller. */
export type AccountRights = {
  user: string
  /** Null: an ordinary user of Slurm. */
  level: 'ROOT' | 'SLURM_USER' | 'ADMINISTRATOR' | 'OPERATOR' | null
  /** Rules of sudo, one each, as `sudo -l` prints them. */
  sudoRules: string[]
}

/**
 * Reads the output of `RIGHTS_SCRIPT`.
 * @param settings of slurm.conf
 * @returns null when the output names no account
 */
export function parseRights(output: string, settings: Record<string, string>): AccountRights | null {
  const [user = '', id = '', ...lines] = output.split('\n').map((line) => line.trim())
  if (!user || !/^\d+$/.test(id)) return null
  const isAdmin = (level: string) => lines.includes(level)
  const rules = lines.slice(lines.findIndex((line) => line.startsWith('('))).join(' ')
  return {
    user,
    level:
      id === '0'
        ? 'ROOT'
        : user === settings.SlurmUser?.replace(/\(.*$/, '')
          ? 'SLURM_USER'
          : isAdmin('Administrator')
            ? 'ADMINISTRATOR'
            : isAdmin('Operator')
              ? 'OPERATOR'
              : null,
    // A long rule has several lines; each rule begins with the accounts that commands may run as.
    sudoRules: rules.split(/ (?=\()/).filter((rule) => rule.startsWith('(')),
  }
}

/** Whether sudo permits the account to run a program as root, without a password. */
export function permitsSudo({ sudoRules }: AccountRights, program: string): boolean {
  return sudoRules.some((rule) => {
    // (ALL : ALL) NOPASSWD: ALL, or (root) NOPASSWD: /usr/bin/scontrol update *, SETENV: /usr/bin/scancel
    const [, users = '', commands = ''] = /^\(([^:)]*)[^)]*\) *(.*)$/.exec(rule) ?? []
    const [, permitted = ''] = /\bNOPASSWD:(.*?)(?:\bPASSWD:|$)/.exec(commands) ?? []
    const files = permitted.split(',').map((command) => command.replace(/^(\s*[A-Z]+:)*\s*/, '').split(/\s/)[0]!)
    return (
      users.split(',').some((name) => ['ALL', 'root'].includes(name.trim())) &&
      files.some((file) => file === 'ALL' || file.split('/').at(-1) === program)
    )
  })
}

/**
 * Reads what the account of a session may do.
 * @param settings of slurm.conf
 * @returns null when it cannot be read
 * @throws SshFailure the connection was lost
 */
export async function readRights(
  { session, programFolder, timeoutMs, signal }: Omit<QueryContext, 'version' | 'onReport'>,
  settings: Record<string, string>,
): Promise<AccountRights | null> {
  const nonce = randomBytes(16).toString('hex')
  const ran = await session.exec('sh -s', {
    stdin: queryScript(['sh', '-c', RIGHTS_SCRIPT], nonce, programFolder),
    timeoutMs,
    signal,
  })
  return parseRights(outputAfter(nonce, ran.stdout.toString('utf8')) ?? '', settings)
}

import { randomBytes } from 'node:crypto'
import { outputAfter, queryScript } from '@muster/slurm'
import type { CommandContext } from './run-command.ts'
import { QueryFailure } from './run-query.ts'

/** The programs of actions. */
export const PROGRAMS = ['scontrol', 'scancel'] as const
/** Programs that root runs for an account. */
const ROOT_PROGRAMS = [...PROGRAMS, 'sacctmgr', 'srun'] as const

/** Prints the name and ID of the account, whether its shell sets SLURM_CONF, and where it finds Slurm's programs. A constant. */
const ACCOUNT_SCRIPT = `id -un; id -u; echo "SLURM_CONF=\${SLURM_CONF+set}"; for name in ${ROOT_PROGRAMS.join(' ')}; do echo "$name=$(command -v $name)"; done`

/**
 * Also prints what sudo permits the account, and its administrator level in Slurm. A constant. sacctmgr is last and has a limit: it may
 * wait long for slurmdbd.
 */
export const RIGHTS_SCRIPT = `${ACCOUNT_SCRIPT}; sudo -n -l 2>/dev/null; echo "level=$(timeout 10 sacctmgr --parsable2 --noheader show user "$(id -un)" format=AdminLevel 2>/dev/null)"`

/** The account of a session on a controller. */
export type Account = {
  user: string
  isRoot: boolean
  /** Its shell sets SLURM_CONF, so its commands may reach another cluster than those of root. */
  hasConfig: boolean
  /** Absolute paths of programs. */
  paths: Record<string, string>
}

/** What an account may do on a controller. */
export type AccountRights = Account & {
  /** Null: an ordinary user of Slurm. */
  level: 'ROOT' | 'SLURM_USER' | 'ADMINISTRATOR' | 'OPERATOR' | null
  /** Rules of sudo, one each, as `sudo -l` prints them. */
  sudoRules: string[]
}

/** Reads the output of `ACCOUNT_SCRIPT`. @returns null when it names no account */
function parseAccount(output: string): Account | null {
  const [user = '', id = '', config, ...lines] = output.split('\n').map((line) => line.trim())
  if (!user || !/^\d+$/.test(id)) return null
  const found = lines.slice(0, ROOT_PROGRAMS.length).map((line) => line.split('='))
  return {
    user,
    isRoot: id === '0',
    hasConfig: config === 'SLURM_CONF=set',
    paths: Object.fromEntries(found.flatMap(([name, path]) => (path?.startsWith('/') ? [[name, path]] : []))),
  }
}

/**
 * Reads the output of `RIGHTS_SCRIPT`.
 * @param settings of slurm.conf
 * @returns null when the output names no account
 */
export function parseRights(output: string, settings: Record<string, string>): AccountRights | null {
  const account = parseAccount(output)
  if (account === null) return null
  const lines = output.split('\n').map((line) => line.trim())
  const last = lines.findLastIndex((line) => line.startsWith('level='))
  const first = lines.findIndex((line) => line.startsWith('('))
  const rules = first < 0 ? '' : lines.slice(first, last < 0 ? undefined : last).join(' ')
  const level = lines[last]?.slice('level='.length)
  return {
    ...account,
    level: account.isRoot
      ? 'ROOT'
      : account.user === settings.SlurmUser?.replace(/\(.*$/, '')
        ? 'SLURM_USER'
        : level === 'Administrator'
          ? 'ADMINISTRATOR'
          : level === 'Operator'
            ? 'OPERATOR'
            : null,
    // A long rule has several lines; each rule begins with the accounts that commands may run as.
    sudoRules: rules.split(/ (?=\()/).filter((rule) => rule.startsWith('(')),
  }
}

/** Why root cannot run commands for an account; null when nothing prevents it. sudo drops SLURM_CONF. */
export const sudoBlockedReason = ({ user, hasConfig }: Account): string | null =>
  hasConfig
    ? `sudo is not used: the shell of ${user} sets SLURM_CONF, and sudo drops it, so the command could reach another cluster. Log in as root or SlurmUser, or unset SLURM_CONF if /etc/slurm has the files of this cluster.`
    : null

/**
 * Whether sudo permits the account to run a program as root, with any arguments and without a password. A rule that excludes the program
 * wins, wherever it is. Rules with arguments do not count.
 */
export function permitsSudo({ sudoRules, paths }: AccountRights, program: string): boolean {
  const path = paths[program]
  if (path === undefined) return false
  const matches = (command: string) =>
    command === 'ALL' || command === path || command === path.slice(0, path.lastIndexOf('/') + 1)
  const commands = sudoRules.flatMap(rootCommands)
  return (
    commands.some(({ command, needsPassword }) => !needsPassword && matches(command)) &&
    !commands.some(({ command }) => command.startsWith('!') && matches(command.slice(1).trim()))
  )
}

/** Commands of a rule for root: (ALL : ALL) NOPASSWD: ALL, or (root) NOPASSWD: /usr/bin/scontrol, PASSWD: !/usr/bin/scancel. */
function rootCommands(rule: string): { command: string; needsPassword: boolean }[] {
  const [, users = '', list = ''] = /^\(([^:)]*)[^)]*\) *(.*)$/.exec(rule) ?? []
  if (!users.split(',').some((name) => ['ALL', 'root'].includes(name.trim()))) return []
  let needsPassword = true
  return list.split(',').map((part) => {
    const [, tags = '', command = ''] = /^\s*((?:[A-Z_]+:\s*)*)(.*?)\s*$/.exec(part) ?? []
    // A tag applies to the commands that follow, too.
    const tag = /\b(NO)?PASSWD:/.exec(tags)
    if (tag) needsPassword = tag[1] === undefined
    return { command, needsPassword }
  })
}

/** The arguments with which root runs a command for an account. sudo has a search path of its own, so the program is absolute. */
export const withSudo = ({ paths }: Account, [program = '', ...rest]: readonly string[]): string[] => [
  ...['sudo', '-n', paths[program] ?? program],
  ...rest,
]

/** Whether a failed command was refused by sudo, so that the program did not start. */
export const isRefusedBySudo = (text: string | null): boolean =>
  /^sudo: .*(a password is required|must have a tty|command not found)|^Sorry, user .* is not allowed to execute/m.test(
    text ?? '',
  )

/**
 * Reads the account of a session.
 * @throws QueryFailure it cannot be read; SshFailure the connection was lost
 */
export async function readAccount(context: CommandContext): Promise<Account> {
  const account = parseAccount(await runScript(context, ACCOUNT_SCRIPT))
  if (account === null) throw new QueryFailure('The account on the controller cannot be read. Run `id` there.')
  return account
}

/**
 * Reads what the account of a session may do.
 * @param settings of slurm.conf
 * @returns null when its output cannot be read
 * @throws QueryFailure it did not answer in time; SshFailure the connection was lost
 */
export async function readRights(context: CommandContext, settings: Record<string, string>): Promise<AccountRights | null> {
  return parseRights(await runScript(context, RIGHTS_SCRIPT), settings)
}

async function runScript({ session, programFolder, timeoutMs, signal }: CommandContext, script: string): Promise<string> {
  const nonce = randomBytes(16).toString('hex')
  const ran = await session.exec('sh -s', {
    stdin: queryScript(['sh', '-c', script], nonce, programFolder),
    timeoutMs,
    signal,
  })
  if (ran.timedOut)
    throw new QueryFailure(
      `The rights of the account cannot be read within ${timeoutMs / 1000} s. Run \`sudo -n -l\` on the controller.`,
    )
  return outputAfter(nonce, ran.stdout.toString('utf8')) ?? ''
}

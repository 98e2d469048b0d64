import { randomBytes } from 'node:crypto'
import type { QueryReport } from '@muster/core/clusters'
import { outputAfter, queryScript } from '@muster/slurm'
import type { ExecResult, Session } from '../ssh/exec.ts'
import { type AccountRights, PROGRAMS, parseRights, permitsSudo, RIGHTS_SCRIPT, sudoBlockedReason } from './account-rights.ts'

const TIMEOUT_MS = 20_000
const MAX_DETAIL = 1000
/** munge accepts credentials for five minutes, so clocks may differ by less. */
const MAX_OFFSET_S = 30

type Finding = Pick<QueryReport, 'state' | 'detail' | 'hint'>

/** A command that checks something other than Slurm's own state. It writes nothing. */
export type Check = {
  query: QueryReport['query']
  /** For `sh -c`; a constant. */
  script: string
  evaluate(ran: Ran, context: CheckContext): Finding
}
/** Times of this machine, in ms, around the command. */
type Ran = { output: string; errors: string; code: number | null; sentAt: number; receivedAt: number }
export type CheckContext = { settings: Record<string, string>; clusterName: string | null }

const failed = (detail: string, hint: string): Finding => ({ state: 'FAILED', detail: detail.slice(0, MAX_DETAIL), hint })
const ok = (detail: string, hint: string | null = null): Finding => ({ state: 'OK', detail: detail.slice(0, MAX_DETAIL), hint })

export const CHECKS: { munge: Check; clock: Check; accounting: Check; rights: Check } = {
  munge: {
    query: 'munge',
    script: 'munge -n | unmunge',
    evaluate({ output, errors, code }) {
      const status = /^STATUS:\s*(.*?)\s*$/m.exec(output)?.[1]
      if (code === 0 && status?.startsWith('Success')) return ok(`A credential of this host is valid: ${status}`)
      const text = [status, errors].filter(Boolean).join(' ')
      if (code === 127 || /not found/.test(text))
        return failed(text || 'munge is not installed', 'Install munge, unless the cluster uses AuthType=auth/slurm.')
      return failed(
        text || `exit code ${code}`,
        'Run `systemctl status munge`. The key must be equal on all hosts, and the clocks within five minutes.',
      )
    },
  },
  clock: {
    query: 'clock',
    script: 'date +%s',
    evaluate({ output, code, sentAt, receivedAt }) {
      const seconds = /^\d{9,11}$/.exec(output.trim())?.[0]
      if (code !== 0 || !seconds) return failed(`it prints no time: ${output.slice(0, 80)}`, 'Run `date +%s` on the host.')
      // The host printed a whole second some time between these two.
      const early = (Number(seconds) + 1) * 1000 - sentAt
      const late = Number(seconds) * 1000 - receivedAt
      const offset = early < 0 ? Math.ceil(early / 1000) : late > 0 ? Math.floor(late / 1000) : 0
      const text =
        offset === 0 ? 'equal to the clock of Muster' : `${Math.abs(offset)} s ${offset > 0 ? 'ahead of' : 'behind'} Muster`
      return Math.abs(offset) > MAX_OFFSET_S
        ? failed(
            text,
            'Synchronize the clocks, for example with chrony. munge rejects credentials when clocks differ by minutes.',
          )
        : ok(text)
    },
  },
  accounting: {
    query: 'accounting',
    script: 'sacctmgr --parsable2 --noheader show cluster format=Cluster,ControlHost',
    evaluate({ output, errors, code }, { clusterName }) {
      if (code !== 0)
        return failed(
          errors || output || `exit code ${code}`,
          'slurmdbd does not answer. Jobs run, but their history and limits are missing.',
        )
      const names = output.split('\n').flatMap((line) => line.split('|')[0]?.trim() || [])
      return clusterName && !names.includes(clusterName.toLowerCase())
        ? failed(
            `slurmdbd does not know ${clusterName}: ${names.join(', ') || 'no cluster'}`,
            `Run \`sacctmgr add cluster ${clusterName}\`.`,
          )
        : ok(`slurmdbd answers: ${names.join(', ')}`)
    },
  },
  rights: {
    query: 'rights',
    script: RIGHTS_SCRIPT,
    evaluate({ output, code }, { settings }) {
      const rights = parseRights(output, settings)
      return rights ? judgeRights(rights, settings) : failed(`exit code ${code}`, 'Run `id` on the host.')
    },
  },
}

function judgeRights(rights: AccountRights, settings: Record<string, string>): Finding {
  const { user, level } = rights
  if (level === 'ROOT' || level === 'SLURM_USER') return ok(`${user} may do everything`)
  if (level) return ok(`${user} is ${level === 'OPERATOR' ? 'an operator' : 'an administrator'} of Slurm`)
  const hidden = (settings.PrivateData ?? '')
    .toLowerCase()
    .split(',')
    .filter((word) => /^(jobs|nodes|partitions|reservations)$/.test(word))
  // Only slurmdbd has administrator levels.
  const change = settings.AccountingStorageType?.endsWith('/slurmdbd')
    ? `make it an operator: \`sacctmgr modify user ${user} set adminlevel=Operator\`.`
    : 'log in as root or SlurmUser.'
  if (hidden.length > 0)
    return failed(
      `${user} is an ordinary user, and PrivateData=${hidden.join(',')} hides objects of others from it`,
      `Of the account, Muster sees only a part of the cluster. To see all, ${change}`,
    )
  const programs = PROGRAMS.filter((program) => permitsSudo(rights, program))
  const blockedReason = sudoBlockedReason(rights)
  if (programs.length > 0 && blockedReason !== null)
    return ok(`${user} is an ordinary user: it can read the cluster`, blockedReason)
  if (programs.length === PROGRAMS.length)
    return ok(`${user} is an ordinary user of Slurm; actions run as root, because sudo permits it without a password`)
  const text = `${user} is an ordinary user: it can read the cluster`
  return ok(
    programs.length > 0 ? `${text}, and run ${programs.join(', ')} as root with sudo` : text,
    `To drain nodes and change jobs, permit it ${PROGRAMS.join(' and ')} with sudo without a password, or ${change}`,
  )
}

/**
 * Runs a check. Its failure is a finding, not an error.
 * @throws SshFailure the connection was lost; the signal's reason when that fires
 */
export async function runCheck(
  { query, script, evaluate }: Check,
  { session, programFolder, signal }: { session: Session; programFolder: string | null; signal: AbortSignal },
  context: CheckContext,
): Promise<QueryReport> {
  const nonce = randomBytes(16).toString('hex')
  const sentAt = Date.now()
  const startedAt = performance.now()
  const ran = await session.exec('sh -s', {
    stdin: queryScript(['sh', '-c', script], nonce, programFolder),
    timeoutMs: TIMEOUT_MS,
    signal,
  })
  const durationMs = Math.round(performance.now() - startedAt)
  const finding = ran.timedOut
    ? failed(`no answer within ${TIMEOUT_MS / 1000} s`, 'Run the command on the host.')
    : evaluate({ ...textOf(ran, nonce), code: ran.code, sentAt, receivedAt: sentAt + durationMs }, context)
  return { query, command: script, exitCode: ran.code, durationMs, ...finding }
}

const textOf = ({ stdout, stderr }: ExecResult, nonce: string) => ({
  output: outputAfter(nonce, stdout.toString('utf8')) ?? '',
  errors: stderr.toString('utf8').trim(),
})

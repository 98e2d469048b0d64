import { setTimeout } from 'node:timers/promises'
import { expandHostlist } from '@muster/core/selection'
import type { ClaimedSlurmAction, SlurmActionItem, SlurmItemOutcome } from '@muster/core/slurm-actions'
import { parseControllers, parseJobs, parseNodes, parsePartitions, parseReservations, parseVersion } from '@muster/slurm'
import {
  actionArguments,
  commandGroups,
  isRepeatable,
  refusalHint,
  removesTarget,
  type SlurmAction,
  stateFinder,
  type TargetState,
  targetKind,
} from '@muster/slurm/commands'
import { isRefusedBySudo, permitsSudo, readRights, sudoBlockedReason, withSudo } from './account-rights.ts'
import { type CommandOutcome, runCommand } from './run-command.ts'
import { type QueryContext, QueryFailure, runQuery } from './run-query.ts'

/** Pauses before the state is read again, until the effect is seen. Slurm shows most effects at once. */
const PAUSES_MS = [0, 300, 700, 1500, 3000, 5000]
/** After a command for many targets failed, they are tried one by one, up to this number, for Slurm's words about each. */
const MAX_SINGLE = 200

/** Commands between two readings of the state. More would leave many targets without a result when the connection fails. */
const MAX_BATCH = 200

/** How progress is stored. Each function returns false when another worker has taken over: then this one must stop. */
export type ActionJournal = {
  /** Renews the claim. */
  renew(): Promise<boolean>
  command(command: string, targets: { target: string; before: string | null }[]): Promise<boolean>
  results(outcomes: SlurmItemOutcome[]): Promise<boolean>
}

/** Another worker has the action now. */
export class ActionTakenOver extends Error {}

type Found = (target: string) => TargetState | null
/** `isShared`: the command was for further targets, too. */
type Pending = { item: SlurmActionItem; before: TargetState | null; ran: CommandOutcome; isShared: boolean }

/**
 * Executes an action over an open session: reads the state, runs the commands, and reads the state until it shows the effects. A repeated
 * execution continues: what an earlier one sent is evaluated by the state, and only commands that do no harm are sent again.
 * @param pausesMs before each reading of the state after a command
 * @throws QueryFailure the controller does not answer; SshFailure; ActionTakenOver
 */
export async function executeAction(
  { row: { action }, items, cluster }: ClaimedSlurmAction,
  context: Omit<QueryContext, 'version'>,
  journal: ActionJournal,
  pausesMs: readonly number[] = PAUSES_MS,
): Promise<void> {
  // Readings of a slow controller together take longer than a claim.
  const renew = async () => {
    if (!(await journal.renew())) throw new ActionTakenOver()
  }
  await renew()
  const version = await checkController(context)
  const read = async () => {
    await renew()
    return readState(action, { ...context, version })
  }
  const store = async (outcomes: SlurmItemOutcome[]) => {
    if (outcomes.length > 0 && !(await journal.results(outcomes))) throw new ActionTakenOver()
  }
  const find = await read()
  const todo = items.filter((item) => needsCommand(action, item, find(item.target)))
  await store(items.filter((item) => !todo.includes(item)).map((item) => withoutCommand(action, item, find(item.target))))

  const byTarget = new Map(todo.map((item) => [item.target, item]))
  const groups = commandGroups(
    action,
    todo.map(({ target }) => target),
  )
  const rights = todo.length > 0 ? await readRights(context, cluster.settings ?? {}) : null
  // An ordinary account without sudo sends the command, too: Slurm's refusal is the result.
  let sudoProblem: string | null = null
  const asAllowed = (argv: string[]): string[] => {
    if (rights?.level !== null || sudoProblem !== null || !permitsSudo(rights, argv[0]!)) return argv
    sudoProblem = sudoBlockedReason(rights)
    return sudoProblem === null ? withSudo(rights, argv) : argv
  }
  const withProblem = (ran: CommandOutcome): CommandOutcome =>
    ran.answer === 'REFUSED' && sudoProblem !== null ? { ...ran, text: [ran.text, sudoProblem].filter(Boolean).join('\n') } : ran
  const send = async (groups: string[][]): Promise<Pending[]> => {
    const sent: Pending[] = []
    for (const targets of groups) {
      const argv = actionArguments(action, targets)
      const before = targets.map((target) => ({ target, before: find(target)?.text ?? null }))
      const run = async (argv: string[]) => {
        if (!(await journal.command(argv.join(' '), before))) throw new ActionTakenOver()
        return runCommand(context, argv)
      }
      const allowed = asAllowed(argv)
      let ran = await run(allowed)
      if (allowed !== argv && ran.answer === 'REFUSED' && isRefusedBySudo(ran.text)) {
        sudoProblem = ran.text
        ran = await run(argv)
      }
      ran = withProblem(ran)
      const isShared = targets.length > 1
      sent.push(...targets.map((target) => ({ item: byTarget.get(target)!, before: find(target), ran, isShared })))
    }
    return sent
  }
  const settle = async (sent: Pending[]): Promise<void> => {
    let open = sent
    let now = find
    let triesSingly = true
    for (const pause of pausesMs) {
      if (open.length === 0) return
      await setTimeout(pause, null, { signal: context.signal })
      now = await read()
      const isDone = ({ item, before }: Pending) => isEffective(action, before, now(item.target))
      await store(open.filter(isDone).map(({ item, before }) => outcome(item, 'DONE', before, now(item.target), null)))
      open = open.filter((pending) => !isDone(pending))
      const single = open.filter(({ ran, isShared }) => isShared && ran.answer === 'REFUSED').slice(0, MAX_SINGLE)
      if (triesSingly && single.length > 0) {
        triesSingly = false
        const again = await send(single.map(({ item }) => [item.target]))
        open = [...open.filter((pending) => !single.includes(pending)), ...again]
        continue
      }
      const isRefused = ({ ran }: Pending) => ran.answer === 'REFUSED'
      await store(open.filter(isRefused).map((pending) => refusal(action, pending, now(pending.item.target))))
      open = open.filter((pending) => !isRefused(pending))
    }
    await store(open.map((pending) => unverified(pending, now(pending.item.target))))
  }
  // The answer to a signal is all that is ever known about it, so each is stored before the next one is sent.
  const batchSize = isSignal(action) ? 1 : MAX_BATCH
  for (let i = 0; i < groups.length; i += batchSize) {
    const sent = await send(groups.slice(i, i + batchSize))
    if (isSignal(action)) await store(sent.map((pending) => resultOfSignal(action, pending)))
    else await settle(sent)
  }
}

/** Other commands wait for a silent controller for up to 30 s. @returns the version */
async function checkController(context: Omit<QueryContext, 'version'>): Promise<string | null> {
  const first = { ...context, version: null }
  const version = await runQuery(first, 'version', parseVersion, (found) => found ?? 'unknown')
  const controllers = await runQuery(first, 'controllers', parseControllers, (list) => `${list.length}`)
  if (!controllers.some(({ isUp }) => isUp))
    throw new QueryFailure(
      `No controller answers: ${controllers.map(({ hostname }) => hostname).join(', ') || 'none is configured'}. Run \`systemctl status slurmctld\` there.`,
    )
  return version
}

async function readState(action: SlurmAction, context: QueryContext): Promise<Found> {
  const describe = (list: readonly unknown[]) => `${list.length}`
  const read = async () => {
    switch (targetKind(action.verb)) {
      case 'node':
        return { nodes: await runQuery(context, 'nodes', (output) => parseNodes(output), describe) }
      case 'job':
        return { jobs: await runQuery(context, 'tasks', (output, nonce) => parseJobs(output, { nonce }), describe) }
      case 'partition':
        return { partitions: await runQuery(context, 'partitions', parsePartitions, describe) }
      case 'reservation':
        return { reservations: await runQuery(context, 'reservations', (output) => parseReservations(output), describe) }
    }
  }
  return stateFinder(action, await read(), expandHostlist)
}

/** slurmctld 22.05 does not list nodes that are powered down. */
const mayBeHidden = ({ verb }: SlurmAction): boolean => verb === 'POWER_UP_NODES' || verb === 'CREATE_RESERVATION'

function needsCommand(action: SlurmAction, { sentAt }: SlurmActionItem, now: TargetState | null): boolean {
  if (sentAt !== null && !isRepeatable(action)) return false
  return now === null ? mayBeHidden(action) : !now.isReached
}

/** The result of a target that needs no command, or must not get one again. */
function withoutCommand(action: SlurmAction, item: SlurmActionItem, now: TargetState | null): SlurmItemOutcome {
  const wasSent = item.sentAt !== null
  if (now?.isReached) return outcome(item, wasSent ? 'DONE' : 'UNCHANGED', now, now, null)
  if (!wasSent) return outcome(item, 'NOT_FOUND', null, null, missing(action, item.target))
  if (now === null && removesTarget(action)) return outcome(item, 'DONE', null, null, null)
  if (now === null && isRepeatable(action)) return outcome(item, 'NOT_VERIFIED', null, null, missing(action, item.target))
  return outcome(
    item,
    'NOT_VERIFIED',
    null,
    now,
    'The worker was lost while it ran the command. The command is not idempotent, so it was not repeated. Check the target, and start the action again if needed.',
  )
}

const missing = (action: SlurmAction, target: string): string =>
  targetKind(action.verb) === 'job'
    ? `The queue has no job ${target}: it has ended, or never existed.`
    : `The cluster has no ${targetKind(action.verb)} ${target}.`

function isEffective(action: SlurmAction, before: TargetState | null, now: TargetState | null): boolean {
  if (now === null) return removesTarget(action)
  return now.isReached || (!isRepeatable(action) && before !== null && before.epoch !== now.epoch)
}

const isSignal = (action: SlurmAction): boolean => action.verb === 'CANCEL_JOBS' && action.signal !== undefined

const outcome = (
  { target }: SlurmActionItem,
  result: SlurmItemOutcome['result'],
  before: TargetState | null,
  after: TargetState | null,
  message: string | null,
): SlurmItemOutcome => ({ target, result, before: before?.text ?? null, after: after?.text ?? null, message })

/** Slurm's words, then the next step. */
function refusal(action: SlurmAction, { item, before, ran }: Pending, now: TargetState | null): SlurmItemOutcome {
  const text = ran.text ?? ''
  const isUnknown = before === null && /Invalid node name/i.test(text)
  const message = [text, refusalHint(action, text)].filter(Boolean).join('\n')
  return outcome(item, isUnknown ? 'NOT_FOUND' : 'REFUSED', before, now, message)
}

function unverified({ item, before, ran }: Pending, now: TargetState | null): SlurmItemOutcome {
  const what =
    ran.answer === 'UNKNOWN'
      ? 'The command was not answered, so Slurm may have executed it or not; its effect is not visible.'
      : 'The command was accepted, and its effect is not visible.'
  const message = ran.text ? `${what} Output: ${ran.text}` : `${what} Check the state again later.`
  return outcome(item, 'NOT_VERIFIED', before, now, message)
}

/** No list shows that a signal arrived. scancel reports signals that could not be delivered. */
function resultOfSignal(action: SlurmAction, pending: Pending): SlurmItemOutcome {
  const { item, before, ran } = pending
  if (ran.answer === 'ACCEPTED') return outcome(item, 'DONE', before, null, null)
  return ran.answer === 'REFUSED' ? refusal(action, pending, null) : unverified(pending, null)
}

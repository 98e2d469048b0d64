import {
  actionArguments,
  InvalidSlurmWord,
  PARTITION_STATES,
  RESERVATION_FLAGS,
  SLURM_VERBS,
  type SlurmAction,
  type SlurmVerb,
  type SlurmWord,
  slurmWordProblem,
  targetKind,
} from '@muster/slurm/commands'
import { z } from 'zod'
import { IdempotencyKey } from '../idempotency/index.ts'
import { InvalidInput } from '../kernel/errors.ts'
import { Id, singleLineText } from '../kernel/input.ts'
import { expandHostlist } from '../selection/index.ts'

export const MAX_TARGETS = 10_000

const word = (kind: SlurmWord) =>
  z.string().superRefine((text, check) => {
    const message = slurmWordProblem(kind, text)
    if (message) check.addIssue({ code: 'custom', message })
  })
const State = z.string().regex(/^[A-Za-z_]{1,40}$/, 'must be a state as Slurm writes it, such as IDLE')

/** The shown state with or without its suffix, or a flag. */
const NodeState = z.string().regex(/^[A-Za-z_]{1,40}[$^@#%~!*+-]?$/, 'must be a state as Slurm writes it, such as IDLE')

/** Nodes of a cluster that meet all conditions. */
const Nodes = z.object({
  hostlist: z.string().max(100_000).nullish(),
  partition: word('partition').nullish(),
  states: z.array(NodeState).max(50).nullish(),
})
/** Jobs of a cluster that meet all conditions. */
const Jobs = z.object({
  ids: z.array(word('job')).max(MAX_TARGETS).nullish(),
  user: word('user').nullish(),
  partition: word('partition').nullish(),
  states: z.array(State).max(50).nullish(),
})
const Reservation = z.object({
  name: word('reservation'),
  startAt: z.date().nullish(),
  durationMinutes: z.int().min(1).max(5_256_000).nullish(),
  hostlist: z.string().max(100_000).nullish(),
  users: z.array(word('user')).max(200).nullish(),
  accounts: z.array(word('user')).max(200).nullish(),
  flags: z.array(z.enum(RESERVATION_FLAGS)).max(10).nullish(),
})

const SlurmActionInput = z.object({
  clusterId: Id,
  verb: z.enum(SLURM_VERBS),
  nodes: Nodes.nullish(),
  jobs: Jobs.nullish(),
  partitions: z.array(word('partition')).max(500).nullish(),
  reservation: Reservation.nullish(),
  /** State of a node after its reboot. */
  nextState: z.enum(['RESUME', 'DOWN']).nullish(),
  features: z.array(word('feature')).max(100).nullish(),
  weight: z.int().min(0).max(4_000_000_000).nullish(),
  signal: word('signal').nullish(),
  timeLimitMinutes: z.int().min(1).max(525_600_000).nullish(),
  unlimitedTime: z.boolean().nullish(),
  priority: z.int().min(0).max(4_294_967_293).nullish(),
  partitionState: z.enum(PARTITION_STATES).nullish(),
})
export type SlurmActionRequest = z.output<typeof SlurmActionInput>

export const StartSlurmActionInput = SlurmActionInput.extend({
  /** Leaves room for the mark of the action. */
  reason: singleLineText(200),
  /** From a preview; required when the request does not name its targets. */
  fingerprint: z.string().max(64).nullish(),
  idempotencyKey: IdempotencyKey,
})

/** Whether the request selects its targets by name or ID. Otherwise, other conditions find them. */
export const isSelected = ({ nodes, jobs }: SlurmActionRequest): boolean =>
  nodes ? Boolean(nodes.hostlist) : jobs ? Boolean(jobs.ids) : true

const TARGETS = { node: 'nodes', job: 'jobs', partition: 'partitions', reservation: 'reservation' } as const
/** Options of the verbs that have some. */
const OPTIONS: Partial<Record<SlurmVerb, readonly (keyof SlurmActionRequest)[]>> = {
  REBOOT_NODES: ['nextState'],
  UPDATE_NODES: ['features', 'weight'],
  CANCEL_JOBS: ['signal'],
  UPDATE_JOBS: ['timeLimitMinutes', 'unlimitedTime', 'priority'],
  SET_PARTITION_STATE: ['partitionState'],
}

/** Checks that the request has the targets and options of its verb, and no others. @throws InvalidInput */
export function checkFields(request: SlurmActionRequest): void {
  const targets = TARGETS[targetKind(request.verb)]
  const allowed = new Set<string>(['clusterId', 'verb', targets, ...(OPTIONS[request.verb] ?? [])])
  const issues = Object.entries(request)
    .filter(([field, value]) => value !== null && value !== undefined && !allowed.has(field))
    .map(([path]) => ({ path, message: `does not apply to ${request.verb}` }))
  if (!request[targets]) issues.push({ path: targets, message: `is missing: ${request.verb} needs it` })
  if (issues.length > 0) throw new InvalidInput(issues)
}

/** A text as the reason of a drain: one line of printable characters, with room for the mark of the action. */
export const slurmReason = (text: string, maxLength = 160): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/[^\x20-\x7e\u00a0-\uffff]/g, '')
    .slice(0, maxLength)
    // Half of a character would not be valid JSON.
    .replace(/[\ud800-\udbff]$/, '')
    .trimEnd()

/** Reasons of drains carry the end of the action's ID, so that Muster recognizes nodes that it drained. */
export const markedReason = (reason: string, actionId: string): string => `${reason} (muster ${actionId.slice(-12)})`

const given = <T>(value: T | null | undefined): T | undefined => value ?? undefined

/** The action that a request asks for. @param reason the text that Slurm stores @throws InvalidInput */
export function actionOf(request: SlurmActionRequest, reason: string): SlurmAction {
  const action = build(request, reason)
  try {
    actionArguments(action, [request.reservation?.name ?? '1'])
  } catch (error) {
    if (error instanceof InvalidSlurmWord) throw new InvalidInput([{ path: '', message: error.message }])
    throw error
  }
  return action
}

function build(request: SlurmActionRequest, reason: string): SlurmAction {
  const { verb, reservation } = request
  switch (verb) {
    case 'DRAIN_NODES':
    case 'DOWN_NODES':
      return { verb, reason }
    case 'REBOOT_NODES':
      return { verb, reason, nextState: request.nextState ?? 'RESUME' }
    case 'UPDATE_NODES':
      return { verb, features: given(request.features), weight: given(request.weight) }
    case 'CANCEL_JOBS':
      return { verb, signal: given(request.signal) }
    case 'UPDATE_JOBS':
      if (request.unlimitedTime && request.timeLimitMinutes)
        throw new InvalidInput([{ path: 'unlimitedTime', message: 'cannot be combined with timeLimitMinutes' }])
      return {
        verb,
        timeLimit: request.unlimitedTime ? 'UNLIMITED' : given(request.timeLimitMinutes),
        priority: given(request.priority),
      }
    case 'SET_PARTITION_STATE':
      if (!request.partitionState) throw new InvalidInput([{ path: 'partitionState', message: 'is missing' }])
      return { verb, state: request.partitionState }
    case 'CREATE_RESERVATION':
    case 'UPDATE_RESERVATION': {
      const { startAt, durationMinutes, hostlist, users, accounts, flags } = reservation!
      const changes = {
        startTime: startAt ? Math.floor(startAt.getTime() / 1000) : undefined,
        durationMinutes: given(durationMinutes),
        nodes: hostlist ? expandHostlist(hostlist, { max: MAX_TARGETS }) : undefined,
        users: given(users),
        accounts: given(accounts),
      }
      if (verb === 'UPDATE_RESERVATION') {
        if (flags) throw new InvalidInput([{ path: 'reservation.flags', message: 'can only be set when it is created' }])
        return { verb, ...changes }
      }
      const { nodes } = changes
      if (!nodes || !durationMinutes) throw new InvalidInput([{ path: 'reservation', message: 'needs nodes and a duration' }])
      return { verb, ...changes, nodes, durationMinutes, flags: flags ?? [] }
    }
    default:
      return { verb } as SlurmAction
  }
}

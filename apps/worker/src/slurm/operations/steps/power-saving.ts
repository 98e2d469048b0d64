import { slurmOperationMessages } from '@muster/core/clusters'
import { retryTransient } from '@muster/core/retry-transient'
import {
  completePowerSaving,
  type PowerSavingOperation,
  type PowerSavingSettings,
  powerOnSuspended,
  preparePowerSaving,
  removePowerSaving,
} from '@muster/core/slurm-power'
import { actionArguments } from '@muster/slurm/commands'
import { pollCluster, runAsRoot } from '../cluster-state.ts'
import { type OperationContext, OperationFailure, type Step, type Workflow } from '../operation.ts'
import { restoreConfiguration } from '../rollout.ts'
import { rolloutConfig } from '../rollout-config.ts'

const TEMPLATE = 'slurm_power'
const DEFAULT_RESUME_SECONDS = 600
/** A canceled power run still verifies the shutdowns that it started, for five minutes each. */
const SUSPENDS_END_MS = 600_000
/** Of the time that slurmctld waits for a node, the rest is for the node itself. */
const REPEATED_PART = 0.5

const planOf = ({ row }: OperationContext) => row.plan as PowerSavingOperation
const scopeOf = (op: OperationContext) => ({
  clusterId: op.cluster.id,
  controllerIds: planOf(op).controllers.map(({ nodeId }) => nodeId),
})

/** Before slurmctld uses the programs. */
const prepare: Step = {
  name: 'prepare the controllers',
  async run(op) {
    const { settings } = planOf(op)
    if (!settings) return op.report('Power saving is turned off.')
    await retryTransient(() => preparePowerSaving(op.ctx, { ...scopeOf(op), settings }))
    const failed = await runOnControllers(op, varsOf(settings), 'present')
    if (failed.length > 0) throw new OperationFailure(slurmOperationMessages.programsFailed({ reason: failed.join(' ') }))
  },
}

const configure: Step = {
  name: 'configuration',
  async run(op) {
    const { from, to } = op.row.input as { from: number; to: number }
    if (from === to) return op.report('slurm.conf stays as it is.')
    await rolloutConfig(op, { from, to })
  },
}

const finish: Step = {
  name: 'finish',
  async run(op) {
    const { settings } = planOf(op)
    if (settings) return retryTransient(() => completePowerSaving(op.ctx, { clusterId: op.cluster.id, settings }))
    const silent = await bringBack(op)
    const left = await remove(op)
    const messages = [
      silent.length > 0
        ? `Suspended nodes that did not return: ${silent.slice(0, 10).join(', ')}. Check their power runs, and resume them in Slurm.`
        : '',
      left.length > 0 ? `The programs are left on controllers, without a valid token. ${left.join(' ')}` : '',
    ]
    if (messages.some(Boolean)) await op.report(messages.filter(Boolean).join(' '))
  },
}

/** Without power saving, slurmctld regards the boot of a node as unexpected and sets the node DOWN. */
const UNEXPECTED = /unexpectedly rebooted/i

/** Powers suspended nodes on and resumes them in Slurm. @returns names of nodes that did not return in time */
async function bringBack(op: OperationContext): Promise<string[]> {
  const before = await powerOn(op)
  const names = Object.keys(before)
  if (names.length === 0) return []
  await op.report(`Power ${names.length} suspended nodes on: ${names.slice(0, 10).join(', ')}${names.length > 10 ? ' …' : ''}.`)
  let waiting = names
  const until = new Date(Date.now() + (planOf(op).previous?.resumeTimeoutSeconds ?? DEFAULT_RESUME_SECONDS) * 1000)
  await pollCluster(op, until, async ({ nodes }) => {
    const booted = waiting.filter((name) => bootOf(nodes.get(name)) !== before[name])
    const down = booted.filter((name) => UNEXPECTED.test(nodes.get(name)?.reason ?? ''))
    if (down.length > 0) await runAsRoot(op, actionArguments({ verb: 'RESUME_NODES' }, down))
    const up = booted.filter((name) => isUp(nodes.get(name)?.states ?? ['DOWN']))
    waiting = waiting.filter((name) => !up.includes(name))
    return waiting.length === 0 ? true : null
  })
  return waiting
}

/** Starts the power runs once, after the end of suspends. @returns the boots before, by NodeName */
async function powerOn(op: OperationContext): Promise<Record<string, string | null>> {
  const scope = { operationId: op.row.id, clusterId: op.cluster.id }
  const reason = `Power saving of the cluster ${op.cluster.name} was turned off`
  const started = await pollCluster(op, new Date(Date.now() + SUSPENDS_END_MS), ({ nodes }) => {
    const bootedAt = Object.fromEntries([...nodes].map(([name, node]) => [name, bootOf(node)]))
    return retryTransient(() => powerOnSuspended(op.ctx, { ...scope, reason, bootedAt }))
  })
  if (!started) throw new OperationFailure(slurmOperationMessages.suspendsRun())
  return started
}

const bootOf = (node: { bootAt: Date | null } | undefined): string | null => node?.bootAt?.toISOString() ?? null

const isUp = (states: readonly string[]): boolean =>
  !states.some((state) => ['DOWN', 'NOT_RESPONDING', 'UNKNOWN'].includes(state))

/** Revokes the tokens, then removes the programs. @returns messages about programs that could not be removed */
async function remove(op: OperationContext): Promise<string[]> {
  await retryTransient(() => removePowerSaving(op.ctx, scopeOf(op)))
  try {
    return await runOnControllers(op, { slurm_power_state: 'absent' }, 'absent')
  } catch (error) {
    op.signal.throwIfAborted()
    if (!(error instanceof OperationFailure)) throw error
    return [error.message]
  }
}

const varsOf = (settings: PowerSavingSettings) => ({
  slurm_power_url: settings.apiUrl,
  slurm_power_ca: settings.caCertificate ?? '',
  slurm_power_suspend_seconds: Math.floor(settings.suspendTimeoutSeconds * REPEATED_PART),
  slurm_power_resume_seconds: Math.floor(settings.resumeTimeoutSeconds * REPEATED_PART),
})

/** @returns error messages of controllers */
async function runOnControllers(op: OperationContext, vars: Record<string, unknown>, part: string): Promise<string[]> {
  const { controllers } = planOf(op)
  const { run, hosts } = await op.startRun(
    TEMPLATE,
    controllers.map(({ nodeId }) => nodeId),
    vars,
    part,
  )
  if (run.status === 'SUCCEEDED') return []
  const messages = controllers.flatMap(({ nodeId, name }) => {
    const message = hosts.get(nodeId)?.message
    return message ? [`${name}: ${message}`] : []
  })
  return messages.length > 0 ? messages : [`The job run ${run.number} ended with ${run.status}. Its log has the reason.`]
}

/** Turns power saving of a cluster on or off, or changes its settings. */
export const POWER_SAVING: Workflow = {
  steps: [prepare, configure, finish],
  undo: [
    restoreConfiguration,
    {
      name: 'undo',
      async run(op) {
        const { settings, previous } = planOf(op)
        if (!settings) return
        if (previous) {
          const failed = await runOnControllers(op, varsOf(previous), 'previous')
          if (failed.length === 0) return
          throw new OperationFailure(`The earlier settings could not be installed again. ${failed.join(' ')}`)
        }
        const left = await remove(op)
        if (left.length > 0) await op.report(`The programs are left on controllers, without a valid token. ${left.join(' ')}`)
      },
    },
  ],
}

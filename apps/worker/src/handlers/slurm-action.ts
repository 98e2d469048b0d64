import { randomUUID } from 'node:crypto'
import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import {
  claimSlurmAction,
  finishSlurmAction,
  recordSlurmCommand,
  recordSlurmResults,
  renewSlurmAction,
} from '@muster/core/slurm-actions'
import type { ControllerSessions } from '../slurm/controller-sessions.ts'
import { type ActionJournal, ActionTakenOver, executeAction } from '../slurm/execute-action.ts'
import { QUERY_TIMEOUT_MS, QueryFailure } from '../slurm/run-query.ts'
import { SshFailure } from '../ssh/ssh-failure.ts'
import { type NodeConfig, type WorkerDeps, workerCtx } from '../worker.ts'

type Deps = Omit<WorkerDeps<NodeConfig>, 'listener'> & { controllers: ControllerSessions }

/**
 * Executes an action on a Slurm cluster, over the session of its refreshes. An action that the worker cannot end, because it stops, is
 * continued by another one after the claim expires.
 */
export function slurmActionHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  return async (entry) => {
    const ctx = workerCtx(deps, entry)
    const claim = { id: entry.id, token: randomUUID() }
    const claimed = await retryTransient(() => claimSlurmAction(ctx, claim))
    if (!claimed) return
    const { controllerNodeId, backupNodeId, programFolder } = claimed.cluster
    const journal: ActionJournal = {
      renew: () => retryTransient(() => renewSlurmAction(ctx, claim)),
      command: (command, targets) => retryTransient(() => recordSlurmCommand(ctx, { ...claim, command, targets })),
      results: (outcomes) => retryTransient(() => recordSlurmResults(ctx, { ...claim, outcomes })),
    }
    const errors: string[] = []
    for (const nodeId of [controllerNodeId, backupNodeId]) {
      if (nodeId === null) continue
      let hasSent = false
      const watched: ActionJournal = {
        ...journal,
        command(command, targets) {
          hasSent = true
          return journal.command(command, targets)
        },
      }
      const context = { programFolder, timeoutMs: QUERY_TIMEOUT_MS, signal: deps.stopping, onReport: () => {} }
      try {
        await deps.controllers.use(ctx, nodeId, (session) => executeAction(claimed, { ...context, session }, watched))
        await retryTransient(() => finishSlurmAction(ctx, { ...claim, error: null }))
        return
      } catch (error) {
        if (deps.stopping.aborted || error instanceof ActionTakenOver) return
        if (error instanceof SshFailure) errors.push(error.summary)
        else if (error instanceof QueryFailure) errors.push(error.message)
        else throw error
        // What is known of the items is from before the command.
        if (hasSent) break
      }
    }
    const error = errors.join(' ') || 'The cluster has no controller node. Choose one.'
    await retryTransient(() => finishSlurmAction(ctx, { ...claim, error }))
  }
}

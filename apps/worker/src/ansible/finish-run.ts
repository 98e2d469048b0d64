import { constants } from 'node:os'
import { join } from 'node:path'
import type { Ctx } from '@muster/core/context'
import { isTransientDbError, retryTransient } from '@muster/core/retry-transient'
import { ClaimLost, finishJobRun, type HostState, type JobRun, type StoredArtifact } from '@muster/core/runs'
import { foldHostlist } from '@muster/core/selection'
import { collectFiles } from './artifacts/collect-files.ts'
import { persistArtifacts, removeArtifacts, StoreUnavailable } from './artifacts/persist-artifacts.ts'
import type { Deps } from './deps.ts'
import type { HostStates } from './output/host-states.ts'
import type { LogWriter } from './output/log-writer.ts'
import type { Mask } from './output/mask.ts'
import { artifactDir, type RunDirectory } from './run-directory/run-paths.ts'
import type { Supervision } from './supervision.ts'

const NOT_STORED =
  'Its log and files could not be stored. Check the artifact store, then run it again; this log is still complete.'

type EndedRun = {
  deps: Pick<Deps, 'config' | 'store' | 'storeRetryForMs'>
  ctx: Ctx
  run: JobRun
  claim: { id: string; token: string }
  directory: RunDirectory
  mask: Mask
  states: HostStates
  writer: LogWriter
  supervision: Supervision
}

/**
 * Stores the log and the files of a run, and records how it ended.
 * @param interrupted names of the hosts with a task in progress
 * @param closing closes the connections of the run
 */
export async function finishRun(ended: EndedRun, interrupted: string[], closing: Promise<void>): Promise<void> {
  const { ctx, deps, claim, supervision } = ended
  const { stop, exitCode } = supervision
  const hosts = ended.states.all()
  const reachedNoHost = !stop && exitCode !== 0 && hosts.every((host) => host.result === 'PENDING')
  // The exit code of a stopped run depends only on its reaction to signals.
  const end = {
    endCause: stop && stop.by !== 'fenced' ? stop.by : ('exit' as const),
    exitCode,
    error: reachedNoHost
      ? `ansible-playbook ended with code ${exitCode} before it reached any host; see its log.`
      : (stop?.error ?? stop?.closingLine ?? abortReason(exitCode)),
    lastLine:
      stop &&
      [stop.closingLine, ...(interrupted.length > 0 ? [`In the middle of a task: ${foldHostlist(interrupted)}.`] : [])].join(' '),
  }
  const { artifacts, failure } = await storeArtifacts(ended, end.lastLine)
  await closing
  if (supervision.isFenced) return await removeArtifacts(ctx, deps.store, artifacts)
  if (failure) {
    // A run that exited by itself cannot count as complete without its log; a stopped run keeps its own cause.
    if (end.endCause === 'exit') end.endCause = 'error'
    end.error = end.error ? `${end.error} ${failure}` : failure
  }
  const write = (states: HostState[]) =>
    retryTransient(() =>
      finishJobRun(ctx, {
        ...claim,
        ansibleStartedAt: supervision.child?.ansibleStartedAt,
        ...end,
        artifacts,
        hosts: states,
      }),
    )
  supervision.disposables.dispose()
  try {
    await write(hosts).catch((err) => {
      if (err instanceof ClaimLost || isTransientDbError(err)) throw err
      ctx.log.error({ err }, 'the database rejects the host states of a run')
      return write([])
    })
  } catch (error) {
    // This also happens when an earlier attempt was committed and only its response was lost.
    if (!(error instanceof ClaimLost)) throw error
    ctx.log.warn('the run was already ended')
  }
}

/** Stores the log and the playbook's files. `failure` is for the operator; null when all is stored. */
async function storeArtifacts(
  { ctx, deps, run, directory, writer, mask, supervision }: EndedRun,
  closingLine: string | null,
): Promise<{ artifacts: StoredArtifact[]; failure: string | null }> {
  try {
    const maxBytes = deps.config.ARTIFACT_MAX_SIZE * 1024 * 1024
    const { files, skipped } = await collectFiles(artifactDir(directory.dir), join(directory.dir, 'artifact-copies'), maxBytes)
    if (skipped.length > 0) {
      const shown = [...skipped.slice(0, 20), ...(skipped.length > 20 ? [`and ${skipped.length - 20} more`] : [])].join(', ')
      await writer.push({ kind: 'notice', stdout: mask.text(`Not stored as artifacts: ${shown}.`), createdAt: new Date() })
      await writer.drain()
    }
    const { store, storeRetryForMs: retryForMs } = deps
    const { signal } = supervision.skipRetries
    const artifacts = await persistArtifacts(ctx, run, { store, dir: directory.dir, files, closingLine, signal, retryForMs })
    return { artifacts, failure: null }
  } catch (error) {
    ctx.log.error({ err: error }, 'the log and files of a run could not be stored')
    const reason = error instanceof StoreUnavailable ? error.message : `See the log of the worker ${run.claimedBy}.`
    return { artifacts: [], failure: `${NOT_STORED} ${reason}` }
  }
}

/** Why ansible-playbook did not complete its plays; null for the exit codes 0, 2 (failed hosts) and 4 (unreachable hosts). */
function abortReason(exitCode: number | null): string | null {
  if (exitCode === null || [0, 2, 4].includes(exitCode)) return null
  const killedBy = Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0]
  const what = killedBy
    ? `was killed by signal ${exitCode - 128} (${killedBy}); if nobody sent it, the machine may have run out of memory`
    : `aborted with code ${exitCode}; see the end of its log`
  return `ansible-playbook ${what}. Check the hosts, then run it again.`
}

import type { Ctx } from '@muster/core/context'
import { isTransientDbError, retryTransient } from '@muster/core/retry-transient'
import { ClaimLost, type JobRun, jobRunCancelRequested, renewClaim } from '@muster/core/runs'
import type { Deps } from './deps.ts'
import type { HostStates } from './output/host-states.ts'
import type { AnsibleProcess } from './process/ansible-process.ts'
import { SourceError } from './source/confine.ts'

const LIVENESS_INTERVAL_MS = 5000
const STATES_MS = 1000
const OUTPUT_REJECTED = 'Its output could not be stored, so it was stopped. Check the hosts; the log'

/** Why the worker stops a run. `fenced`: another worker may own its row. `closingLine` ends the log. */
export type Stop = { by: 'cancel' | 'timeout' | 'error' | 'fenced'; error?: string; closingLine: string }

/** Renews the claim of a run, and stops the run on a cancel, a timeout, the end of the worker, or an error. */
export class Supervision {
  private readonly deps: Pick<Deps, 'config' | 'listener' | 'stopping'>
  private readonly ctx: Ctx
  private readonly run: JobRun
  private readonly claim: { id: string; token: string }
  private readonly states: HostStates
  /** Timers and subscriptions, disposed when the run ends. */
  readonly disposables = new DisposableStack()
  /** Aborted when the run is stopped. */
  readonly ending = new AbortController()
  /** Aborted when the run is stopped before its timeout: an unavailable store is then no longer retried. */
  readonly skipRetries = new AbortController()
  stop: Stop | null = null
  child: AnsibleProcess | null = null
  exitCode: number | null = null

  constructor(deps: Supervision['deps'], ctx: Ctx, run: JobRun, claim: Supervision['claim'], states: HostStates) {
    this.deps = deps
    this.ctx = ctx
    this.run = run
    this.claim = claim
    this.states = states
  }

  /** Renews the claim, listens for cancels, and stops the run when it times out. @returns a function that renews the claim immediately */
  start(): () => void {
    const { deps, run, disposables } = this
    const graceMs = deps.config.JOB_CANCEL_GRACE_PERIOD * 1000
    let renewedAt = 0
    let isRenewing = false
    const renew = async () => {
      const hosts = this.states.takeChanged()
      if (hosts.length === 0 && Date.now() - renewedAt < LIVENESS_INTERVAL_MS) return
      try {
        const seen = await retryTransient(() =>
          renewClaim(this.ctx, {
            ...this.claim,
            ...(this.child ? { ansibleStartedAt: this.child.ansibleStartedAt } : {}),
            hosts,
          }),
        )
        renewedAt = Date.now()
        if (seen.isCancelRequested) this.end({ by: 'cancel', closingLine: `Canceled by ${seen.cancelRequestedByName}.` }, graceMs)
      } catch (error) {
        // A renewal that was in progress when the run ended finds its row closed.
        if (!disposables.disposed) this.onWriteFailure(error as Error)
      }
    }
    const renewNow = () => {
      renewedAt = 0
      void renew()
    }
    const renewRegularly = async () => {
      if (isRenewing) return
      isRenewing = true
      await renew()
      isRenewing = false
    }
    disposables.adopt(setInterval(renewRegularly, STATES_MS), clearInterval)
    disposables.defer(deps.listener.on(jobRunCancelRequested, run.id, renewNow))
    this.schedule(run.timeoutSeconds * 1000, () => {
      const error = `It exceeded its timeout of ${run.timeoutSeconds} s.`
      this.end({ by: 'timeout', error, closingLine: `Timed out after ${run.timeoutSeconds} s.` }, graceMs)
    })
    // A worker that stops lets runs finish during half of the grace period and stops them in the other half.
    const onStopping = () => {
      const stop: Stop = { by: 'error', error: 'Its worker was stopped; run it again.', closingLine: 'Worker stopped.' }
      this.schedule(graceMs / 2, () => this.end(stop, graceMs / 2))
    }
    if (deps.stopping.aborted) onStopping()
    deps.stopping.addEventListener('abort', onStopping)
    disposables.defer(() => deps.stopping.removeEventListener('abort', onStopping))
    return renewNow
  }

  /** A timer that is cleared when the run ends. */
  private schedule(ms: number, work: () => void): void {
    this.disposables.adopt(setTimeout(work, Math.min(ms, 2 ** 31 - 1)), clearTimeout)
  }

  /** Ends the run after an error of the worker itself. */
  failInternally(error: unknown): void {
    this.ctx.log.error({ err: error }, 'cannot execute the run')
    if (error instanceof SourceError) {
      this.stop ??= { by: 'error', error: error.message, closingLine: error.message }
      return
    }
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const hint = isMissing
      ? 'it does not exist; install ansible-core or set ANSIBLE_PLAYBOOK'
      : `see the log of the worker ${this.run.claimedBy}`
    const what = this.child ? 'Its output could not be read' : 'ansible-playbook did not start'
    this.stop ??= { by: 'error', error: `${what}: ${hint}.`, closingLine: `${what}.` }
    this.child?.stop(0)
  }

  onWriteFailure(error: Error): void {
    if (error instanceof ClaimLost || isTransientDbError(error)) {
      this.fence(error)
      return
    }
    this.ctx.log.error({ err: error }, 'the database rejects events of the run')
    this.stop ??= {
      by: 'error',
      error: `${OUTPUT_REJECTED} of the worker ${this.run.claimedBy} has the reason.`,
      closingLine: 'Its log ends here.',
    }
    this.ending.abort()
    this.child?.stop(0)
  }

  /** Another worker may be running it again: kill everything at once and write nothing. */
  private fence(error: Error): void {
    this.ctx.log.warn(
      { err: error },
      error instanceof ClaimLost ? 'the claim of the run was lost' : 'the database is unavailable for the run',
    )
    this.end({ by: 'fenced', closingLine: '' }, 0)
  }

  get isFenced(): boolean {
    return this.stop?.by === 'fenced'
  }

  private end(stop: Stop, graceMs: number): void {
    if (stop.by !== 'timeout') this.skipRetries.abort()
    // A run that has exited by itself was not stopped by the worker.
    if (stop.by !== 'fenced' && (this.stop || this.exitCode !== null)) return
    this.stop = stop
    this.ctx.log.info({ by: stop.by }, 'stopping the run')
    this.ending.abort()
    this.child?.stop(graceMs)
  }
}

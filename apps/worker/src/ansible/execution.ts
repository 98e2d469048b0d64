import { constants } from 'node:os'
import { join } from 'node:path'
import type { ArtifactStore } from '@muster/core/artifacts'
import type { Ctx } from '@muster/core/context'
import type { Listener } from '@muster/core/events'
import type { AllSettings } from '@muster/core/registry'
import { isTransientDbError, retryTransient } from '@muster/core/retry-transient'
import type { Claim } from '@muster/core/run-queue'
import {
  ClaimLost,
  finishJobRun,
  type HostState,
  type JobRun,
  jobRunCancelRequested,
  renewClaim,
  type StoredArtifact,
} from '@muster/core/runs'
import { foldHostlist } from '@muster/core/selection'
import { collectFiles } from './artifacts/collect-files.ts'
import { persistArtifacts, removeArtifacts, StoreUnavailable } from './artifacts/persist-artifacts.ts'
import { type RunPlan, secretsOf } from './inventory/plan-run.ts'
import type { Isolation, WrapCommand } from './isolation/isolation.ts'
import { consumeOutput } from './output/consume-output.ts'
import { createEvidenceRecorder, type EvidenceRecorder } from './output/evidence-recorder.ts'
import { HostStates } from './output/host-states.ts'
import { LogWriter } from './output/log-writer.ts'
import { createMask, type Mask } from './output/mask.ts'
import { type AnsibleProcess, ansibleEnvironment, startAnsible } from './process/ansible-process.ts'
import { openControlMasters } from './process/control-masters.ts'
import { cleanUpFinishedRun, killLeftoverProcesses } from './process/kill-leftover-processes.ts'
import { killRemoteProcesses } from './process/kill-remote-processes.ts'
import { recordReachability } from './record-reachability.ts'
import { environmentOf } from './run-directory/run-directory.ts'
import { writeRunFiles } from './run-directory/run-files.ts'
import { artifactDir, type RunDirectory } from './run-directory/run-paths.ts'
import { playbookRoot } from './run-directory/shipped-playbooks.ts'
import { serveRunSecrets } from './secrets/run-secrets.ts'
import { type RepositoryLimits, SourceError } from './source/confine.ts'
import { materialize } from './source/materialize.ts'

export type ExecutorConfig = Pick<
  AllSettings,
  | 'ANSIBLE_WORK_DIR'
  | 'ANSIBLE_PLAYBOOK_REPO_PATH'
  | 'ANSIBLE_PLAYBOOK'
  | 'ARTIFACT_MAX_SIZE'
  | 'JOB_CANCEL_GRACE_PERIOD'
  | 'SSH_TIMEOUT'
  | 'LOCAL_TARGETS'
>
export type Deps = {
  config: ExecutorConfig
  listener: Listener
  stopping: AbortSignal
  isolation: Isolation
  /** Stores logs and files of runs. */
  store: ArtifactStore
  /** How long to retry while the store is unavailable; default 120 s. */
  storeRetryForMs?: number | undefined
  /** Allowed git protocols; default https and ssh. */
  gitProtocols?: string[]
  /** Limits of repositories; default 500 MiB and 20,000 files. */
  gitLimits?: RepositoryLimits
}

const LIVENESS_INTERVAL_MS = 5000
const STATES_MS = 1000
const OUTPUT_REJECTED = 'Its output could not be stored, so it was stopped. Check the hosts; the log'

const NOT_STORED =
  'Its log and files could not be stored. Check the artifact store, then run it again; this log is still complete.'

/** Why the worker stops a run. `fenced`: another worker may own its row. `closingLine` ends the log. */
type Stop = { by: 'cancel' | 'timeout' | 'error' | 'fenced'; error?: string; closingLine: string }

/** One run in progress. */
export class Execution {
  private readonly deps: Deps
  private readonly ctx: Ctx
  private readonly run: JobRun
  private readonly claim: { id: string; token: string }
  private readonly plan: RunPlan
  private readonly directory: RunDirectory
  private readonly mask: Mask
  private readonly states: HostStates
  private readonly writer: LogWriter
  private readonly evidence: EvidenceRecorder
  /** Timers and subscriptions, disposed when the run ends. */
  private readonly disposables = new DisposableStack()
  private readonly ending = new AbortController()
  /** Aborted when the run is stopped: an unavailable store is then no longer retried. */
  private readonly skipRetries = new AbortController()
  private stop: Stop | null = null
  private child: AnsibleProcess | null = null
  private exitCode: number | null = null
  private hasStrays = false
  /** How programs of the run are started, once its directories are complete. */
  private wrapCommand: WrapCommand = (argv) => argv
  /** Connections of a run that exited by itself are closed while its log is stored. */
  private closing = Promise.resolve()

  constructor(deps: Deps, ctx: Ctx, { run, token, hosts }: Claim, plan: RunPlan, directory: RunDirectory) {
    this.deps = deps
    this.ctx = ctx
    this.run = run
    this.claim = { id: run.id, token }
    this.plan = plan
    this.directory = directory
    this.mask = createMask(secretsOf(plan))
    this.states = new HostStates(
      hosts.map((host) => host.name),
      this.mask,
    )
    this.writer = new LogWriter(ctx, { ...this.claim, seq: run.lastSeq })
    this.evidence = createEvidenceRecorder(ctx, plan)
  }

  /** @param began performance.now() at the claim, for the log */
  async execute(began: number): Promise<void> {
    void this.writer.failed.then((error) => this.onWriteFailure(error))
    for (const { name, reason } of this.plan.rejected) {
      this.states.reject(name, reason)
      const stdout = `fatal: [${name}]: UNREACHABLE! => ${reason}`
      await this.writer.push({ kind: 'unreachable', host: name, stdout, createdAt: new Date() })
    }
    if (this.plan.targets.length > 0) await this.runAnsible(began)
    else
      this.stop = {
        by: 'error',
        error: 'None of its hosts can be reached; each host shows the reason.',
        closingLine: 'No host can be reached.',
      }
    await this.writer.drain()
    await this.evidence.drain()
    if (!this.isFenced()) await this.finish()
    await this.closing
    this.disposables.dispose()
    if (this.isFenced()) return
    await recordReachability(this.ctx, this.plan, this.states)
  }

  /** Starts ansible-playbook, consumes its output, and kills what it leaves behind. Sets `exitCode` or `stop`. */
  private async runAnsible(began: number): Promise<void> {
    const { config } = this.deps
    const { ctx, run, plan, directory } = this
    const playbooks = playbookRoot(config)
    let closeSecrets = () => {}
    let stopConnecting = () => false
    try {
      const renewNow = this.startSupervision()
      const { gitProtocols: protocols } = this.deps
      const source = await materialize(ctx, run, this.claim.token, {
        directory,
        playbooks,
        isolation: this.deps.isolation,
        signal: this.ending.signal,
        localTargets: config.LOCAL_TARGETS,
        ...(this.deps.gitLimits ? { limits: this.deps.gitLimits } : {}),
        ...(protocols ? { protocols } : {}),
      })
      closeSecrets = (await serveRunSecrets(directory.sshDir, plan)).close
      const connectTimeoutS = Math.ceil(config.SSH_TIMEOUT)
      const files = await writeRunFiles({ ...directory, playbooks, project: source.root, connectTimeoutS }, run, plan)
      const env = ansibleEnvironment(config.ANSIBLE_PLAYBOOK, directory, files, run)
      const { isolation } = this.deps
      this.wrapCommand = await isolation.prepare(directory)
      const launch = { isolation, wrapCommand: this.wrapCommand, env }
      const prepared = performance.now()
      this.ending.signal.throwIfAborted()
      const child = await startAnsible(config.ANSIBLE_PLAYBOOK, source.playbook, run, directory, files, launch)
      this.child = child
      // Set at once: a cancel during the last output does not change how the run ended.
      void child.exited.then((code) => {
        this.exitCode = code
      })
      if (this.ending.signal.aborted) child.stop(0)
      renewNow()
      const aliases = plan.bastions.map((bastion) => bastion.alias)
      stopConnecting = openControlMasters(directory.sshDir, aliases, launch)
      const timings = { hosts: plan.targets.length, prepareMs: prepared - began, spawnMs: performance.now() - prepared }
      ctx.log.info({ ...timings, waitMs: child.ansibleStartedAt.getTime() - run.createdAt.getTime() }, 'ansible-playbook started')
      const { writer, states, mask, evidence } = this
      this.hasStrays = await consumeOutput(child, { writer, states, mask, log: ctx.log, onEvidence: evidence.record })
    } catch (error) {
      // A run that is stopped before its process started has nothing to report.
      if (this.child || !this.ending.signal.aborted) this.failInternally(error)
    }
    this.exitCode = (await this.child?.exited) ?? null
    if (stopConnecting()) this.hasStrays = true
    await this.cleanUp().catch((err) => ctx.log.error({ err }, 'cleanup after a run failed'))
    closeSecrets()
  }

  /** Ends the run after an error of the worker itself. */
  private failInternally(error: unknown): void {
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

  /** Renews the claim, listens for cancels, and stops the run when it times out. @returns a function that renews the claim immediately */
  private startSupervision(): () => void {
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

  private onWriteFailure(error: Error): void {
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

  private isFenced(): boolean {
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

  /** Kills what the run left running: here, on nodes with a task in progress, and the connections to them. */
  private async cleanUp(): Promise<void> {
    const { directory, wrapCommand } = this
    const { dir, sshDir, marker, user } = directory
    const masters = { sshDir, wrapCommand, env: environmentOf(dir) }
    const interrupted = new Set(this.interruptedHosts())
    if (!this.stop && !this.hasStrays && interrupted.size === 0) {
      this.closing = cleanUpFinishedRun({ masters, marker, user }).catch((err) =>
        this.ctx.log.error({ err }, 'closing the connections of a run failed'),
      )
      return
    }
    const nodes = this.plan.targets.flatMap(({ name, machine, become }) =>
      machine && interrupted.has(name) ? [{ alias: machine.alias, become }] : [],
    )
    await killLeftoverProcesses({ masters, marker, user }, () => killRemoteProcesses(masters, nodes))
  }

  private interruptedHosts(): string[] {
    return this.states.all().flatMap((host) => (host.result === 'RUNNING' && host.currentTask !== null ? [host.name] : []))
  }

  private async finish(): Promise<void> {
    const { stop, exitCode } = this
    const hosts = this.states.all()
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
        [
          stop.closingLine,
          ...(this.interruptedHosts().length > 0 ? [`In the middle of a task: ${foldHostlist(this.interruptedHosts())}.`] : []),
        ].join(' '),
    }
    const { artifacts, failure } = await this.storeArtifacts(end.lastLine)
    await this.closing
    if (this.isFenced()) return await removeArtifacts(this.ctx, this.deps.store, artifacts)
    if (failure) {
      // A run that exited by itself cannot count as complete without its log; a stopped run keeps its own cause.
      if (end.endCause === 'exit') end.endCause = 'error'
      end.error = end.error ? `${end.error} ${failure}` : failure
    }
    const write = (states: HostState[]) =>
      retryTransient(() =>
        finishJobRun(this.ctx, {
          ...this.claim,
          ansibleStartedAt: this.child?.ansibleStartedAt,
          ...end,
          artifacts,
          hosts: states,
        }),
      )
    this.disposables.dispose()
    try {
      await write(hosts).catch((err) => {
        if (err instanceof ClaimLost || isTransientDbError(err)) throw err
        this.ctx.log.error({ err }, 'the database rejects the host states of a run')
        return write([])
      })
    } catch (error) {
      // This also happens when an earlier attempt was committed and only its response was lost.
      if (!(error instanceof ClaimLost)) throw error
      this.ctx.log.warn('the run was already ended')
    }
  }

  /** Stores the log and the playbook's files. `failure` is for the operator; null when all is stored. */
  private async storeArtifacts(closingLine: string | null): Promise<{ artifacts: StoredArtifact[]; failure: string | null }> {
    const { ctx, deps, run, directory, writer } = this
    try {
      const maxBytes = deps.config.ARTIFACT_MAX_SIZE * 1024 * 1024
      const { files, skipped } = await collectFiles(artifactDir(directory.dir), join(directory.dir, 'artifact-copies'), maxBytes)
      if (skipped.length > 0) {
        const shown = [...skipped.slice(0, 20), ...(skipped.length > 20 ? [`and ${skipped.length - 20} more`] : [])].join(', ')
        await writer.push({ kind: 'notice', stdout: this.mask.text(`Not stored as artifacts: ${shown}.`), createdAt: new Date() })
        await writer.drain()
      }
      const { store, storeRetryForMs: retryForMs } = deps
      const { signal } = this.skipRetries
      const artifacts = await persistArtifacts(ctx, run, { store, dir: directory.dir, files, closingLine, signal, retryForMs })
      return { artifacts, failure: null }
    } catch (error) {
      ctx.log.error({ err: error }, 'the log and files of a run could not be stored')
      const reason = error instanceof StoreUnavailable ? error.message : `See the log of the worker ${run.claimedBy}.`
      return { artifacts: [], failure: `${NOT_STORED} ${reason}` }
    }
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

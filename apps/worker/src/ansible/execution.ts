import { constants } from 'node:os'
import { join } from 'node:path'
import type { ArtifactStore } from '@muster/core/artifacts'
import type { loadConfig } from '@muster/core/config'
import type { Ctx } from '@muster/core/context'
import type { Listener } from '@muster/core/events'
import {
  type Claim,
  ClaimLost,
  finishJobRun,
  type HostState,
  type JobRun,
  type StoredArtifact,
  touchJobRun,
} from '@muster/core/jobs'
import { foldHostlist } from '@muster/core/nodes'
import { isDatabaseAway, patiently } from '@muster/core/patiently'
import { type Child, runEnvironment, startAnsible } from './child.ts'
import { collectFiles } from './collect-files.ts'
import { endIdle, endLeftovers } from './end-leftovers.ts'
import { endRemoteProcesses } from './end-remote.ts'
import { type Evidence, keepEvidence } from './evidence.ts'
import { HostStates } from './host-states.ts'
import { takeIn } from './intake.ts'
import type { Isolation } from './isolation/isolation.ts'
import { forget, keepArtifacts, StoreAway } from './keep-artifacts.ts'
import { LogWriter } from './log-writer.ts'
import { createMask, type Mask } from './mask.ts'
import { openMasters } from './masters.ts'
import { type RunPlan, secretsOf } from './plan-run.ts'
import { reportNodes } from './report-nodes.ts'
import { artifactDir, type RunDirectory } from './run-directory.ts'
import { writeRunFiles } from './run-files.ts'
import { serveRunSecrets } from './run-secrets.ts'
import { playbooksOf } from './shipped-playbooks.ts'
import { SourceError } from './source/confine.ts'
import { materialise } from './source/materialise.ts'
import { Watch } from './watch.ts'

export type ExecutorConfig = ReturnType<
  typeof loadConfig<
    | 'ANSIBLE_WORK_DIR'
    | 'ANSIBLE_PLAYBOOK_REPO_PATH'
    | 'ANSIBLE_PLAYBOOK'
    | 'ARTIFACT_MAX_SIZE'
    | 'JOB_CANCEL_GRACE_PERIOD'
    | 'SSH_TIMEOUT'
  >
>
export type Deps = {
  config: ExecutorConfig
  listener: Listener
  stopping: AbortSignal
  isolation: Isolation
  /** Where logs and files of runs are kept. */
  store: ArtifactStore
  /** How long a store that is away is waited for; left out: 120 s. */
  storePatienceMs?: number | undefined
  /** How git repositories may be reached, by git's names; left out: https and ssh. */
  gitProtocols?: string[]
}

const TOUCH_MS = 5000
const STATES_MS = 1000
const REFUSED = 'What it said could not be stored, so it was ended. Look at the hosts; the log'

const NOT_KEPT =
  'Its log and files could not be stored. Look at the artifact store, then run it again; what it said is still in the log here.'

/** Why we end a run ourselves. `fenced`: its row is not ours to write any more. */
type Stop = { by: 'cancel' | 'timeout' | 'error' | 'fenced'; error?: string; said: string }

/** One run under way. */
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
  private readonly evidence: Evidence
  private readonly watch = new Watch()
  private readonly ending = new AbortController()
  /** Somebody wants the run to be over: a store that is away is not waited for any more. */
  private readonly hurry = new AbortController()
  private stop: Stop | null = null
  private child: Child | null = null
  private exitCode: number | null = null
  private hasStrays = false
  /** The connections of a run that ended by itself are closed while its log is stored. */
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
    this.evidence = keepEvidence(ctx, plan)
  }

  /** @param began performance.now() when the run was claimed, for the log */
  async carryOut(began: number): Promise<void> {
    void this.writer.failed.then((error) => this.cannotWrite(error))
    for (const { name, reason } of this.plan.refused) {
      this.states.refuse(name, reason)
      const stdout = `fatal: [${name}]: UNREACHABLE! => ${reason}`
      await this.writer.push({ kind: 'unreachable', host: name, stdout, createdAt: new Date() })
    }
    if (this.plan.targets.length > 0) await this.runAnsible(began)
    else this.stop = { by: 'error', error: 'None of its hosts can be reached; each says why.', said: 'No host can be reached.' }
    await this.writer.drain()
    await this.evidence.settled()
    if (!this.isFenced()) await this.finish()
    await this.closing
    this.watch.end()
    if (this.isFenced()) return
    await reportNodes(this.ctx, this.plan, this.states)
  }

  /** Start ansible-playbook, take in what it says, and end whatever it leaves. Sets `exitCode` or `stop`. */
  private async runAnsible(began: number): Promise<void> {
    const { config } = this.deps
    const { ctx, run, plan, directory } = this
    const playbooks = playbooksOf(config)
    let closeSecrets = () => {}
    let stopConnecting = () => false
    try {
      const touchNow = this.keepWatch()
      const { gitProtocols: protocols } = this.deps
      const source = await materialise(ctx, run, this.claim.token, {
        ...directory,
        playbooks,
        signal: this.ending.signal,
        ...(protocols ? { protocols } : {}),
      })
      closeSecrets = (await serveRunSecrets(directory.sshDir, plan)).close
      const connectTimeoutS = Math.ceil(config.SSH_TIMEOUT)
      const files = await writeRunFiles({ ...directory, playbooks, project: source.root, connectTimeoutS }, run, plan)
      const env = runEnvironment({ ansiblePlaybook: config.ANSIBLE_PLAYBOOK, playbooks }, directory, files, run)
      const { isolation } = this.deps
      const start = { isolation, enter: await isolation.enter(directory), env }
      const prepared = performance.now()
      this.ending.signal.throwIfAborted()
      const child = await startAnsible(config.ANSIBLE_PLAYBOOK, source.playbook, run, directory, files, start)
      this.child = child
      // At once: what is asked for while its last words are taken in does not change how it ended.
      void child.exited.then((code) => {
        this.exitCode = code
      })
      if (this.ending.signal.aborted) child.stop(0)
      touchNow()
      const aliases = plan.bastions.map((bastion) => bastion.alias)
      stopConnecting = openMasters(directory.sshDir, aliases, start)
      const figures = { hosts: plan.targets.length, prepareMs: prepared - began, spawnMs: performance.now() - prepared }
      ctx.log.info({ ...figures, waitMs: child.execAt.getTime() - run.createdAt.getTime() }, 'ansible-playbook started')
      const { writer, states, mask, evidence } = this
      this.hasStrays = await takeIn(child, { writer, states, mask, log: ctx.log, onEvidence: evidence.keep })
    } catch (error) {
      // A run that is ended before its process was started has nothing more to tell.
      if (this.child || !this.ending.signal.aborted) this.hurt(error)
    }
    this.exitCode = (await this.child?.exited) ?? null
    if (stopConnecting()) this.hasStrays = true
    await this.cleanUp().catch((err) => ctx.log.error({ err }, 'could not clean up after a run'))
    closeSecrets()
  }

  /** Something of our own went wrong, before or after ansible-playbook was started. */
  private hurt(error: unknown): void {
    this.ctx.log.error({ err: error }, 'cannot execute the run')
    if (error instanceof SourceError) {
      this.stop ??= { by: 'error', error: error.message, said: error.message }
      return
    }
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    const hint = isMissing
      ? 'it is not there; install ansible-core or set ANSIBLE_PLAYBOOK'
      : `the log of the worker ${this.run.claimedBy} says why`
    const what = this.child ? 'Its output could not be read' : 'ansible-playbook did not start'
    this.stop ??= { by: 'error', error: `${what}: ${hint}.`, said: `${what}.` }
    this.child?.stop(0)
  }

  /** Touch the row, hear of cancels, and end the run when it is to end. @returns touches the row at once */
  private keepWatch(): () => void {
    const { deps, run, watch } = this
    const graceMs = deps.config.JOB_CANCEL_GRACE_PERIOD * 1000
    let touched = 0
    const touch = async () => {
      const hosts = this.states.takeChanged()
      if (hosts.length === 0 && Date.now() - touched < TOUCH_MS) return
      try {
        const seen = await patiently(() =>
          touchJobRun(this.ctx, { ...this.claim, ...(this.child ? { execAt: this.child.execAt } : {}), hosts }),
        )
        touched = Date.now()
        if (seen.isCancelRequested) this.end({ by: 'cancel', said: `Canceled by ${seen.cancelRequestedByName}.` }, graceMs)
      } catch (error) {
        // Once the run has ended the row is closed, and a touch that was under way finds it so.
        if (!watch.isOver) this.cannotWrite(error as Error)
      }
    }
    const touchNow = () => {
      touched = 0
      void touch()
    }
    watch.every(STATES_MS, touch)
    watch.on(deps.listener.on('cancel', run.id, touchNow))
    watch.after(run.timeoutSeconds * 1000, () => {
      const error = `It ran longer than the ${run.timeoutSeconds} s it was given.`
      this.end({ by: 'timeout', error, said: `Timed out after ${run.timeoutSeconds} s.` }, graceMs)
    })
    // A worker that is told to end lets runs finish for half of the grace period and ends them in the other half.
    const onStopping = () => {
      const stop: Stop = { by: 'error', error: 'Its worker was stopped; run it again.', said: 'Worker stopped.' }
      watch.after(graceMs / 2, () => this.end(stop, graceMs / 2))
    }
    if (deps.stopping.aborted) onStopping()
    deps.stopping.addEventListener('abort', onStopping)
    watch.on(() => deps.stopping.removeEventListener('abort', onStopping))
    return touchNow
  }

  private cannotWrite(error: Error): void {
    if (error instanceof ClaimLost || isDatabaseAway(error)) {
      this.fence(error)
      return
    }
    this.ctx.log.error({ err: error }, 'the database refuses what the run says')
    this.stop ??= { by: 'error', error: `${REFUSED} of the worker ${this.run.claimedBy} says why.`, said: 'Its log ends here.' }
    this.ending.abort()
    this.child?.stop(0)
  }

  /** Somebody else may be running it again: end everything at once and write nothing. */
  private fence(error: Error): void {
    this.ctx.log.warn({ err: error }, error instanceof ClaimLost ? 'the run was taken away' : 'the run cannot be written')
    this.end({ by: 'fenced', said: '' }, 0)
  }

  private isFenced(): boolean {
    return this.stop?.by === 'fenced'
  }

  private end(stop: Stop, graceMs: number): void {
    if (stop.by !== 'timeout') this.hurry.abort()
    // What has ended by itself was not ended by us.
    if (stop.by !== 'fenced' && (this.stop || this.exitCode !== null)) return
    this.stop = stop
    this.ctx.log.info({ by: stop.by }, 'ending the run')
    this.ending.abort()
    this.child?.stop(graceMs)
  }

  /** End what the run left running: here, on nodes in the middle of a task, and the connections to them. */
  private async cleanUp(): Promise<void> {
    const { directory } = this
    const midTask = new Set(this.midTask())
    if (!this.stop && !this.hasStrays && midTask.size === 0) {
      this.closing = endIdle(directory).catch((err) => this.ctx.log.error({ err }, 'could not close the connections of a run'))
      return
    }
    const nodes = this.plan.targets.flatMap(({ name, machine, become }) =>
      machine && midTask.has(name) ? [{ alias: machine.alias, become }] : [],
    )
    await endLeftovers(directory, () => endRemoteProcesses(directory.sshDir, nodes))
  }

  private midTask(): string[] {
    return this.states.all().flatMap((host) => (host.result === 'RUNNING' && host.currentTask !== null ? [host.name] : []))
  }

  private async finish(): Promise<void> {
    const { stop, exitCode } = this
    const hosts = this.states.all()
    const didNothing = !stop && exitCode !== 0 && hosts.every((host) => host.result === 'PENDING')
    // Of one that we ended, the exit code tells only how it took our signals.
    const end = {
      endedBy: stop && stop.by !== 'fenced' ? stop.by : ('exit' as const),
      exitCode,
      error: didNothing
        ? `ansible-playbook ended with code ${exitCode} before it reached any host; its log says why.`
        : (stop?.error ?? stop?.said ?? whyAborted(exitCode)),
      said:
        stop &&
        [stop.said, ...(this.midTask().length > 0 ? [`In the middle of a task: ${foldHostlist(this.midTask())}.`] : [])].join(
          ' ',
        ),
    }
    const { artifacts, why } = await this.keep(end.said)
    await this.closing
    if (this.isFenced()) return await forget(this.ctx, this.deps.store, artifacts)
    if (why) {
      // A run that ended by itself is not what it seems without its log; of one that was ended it is known why.
      if (end.endedBy === 'exit') end.endedBy = 'error'
      end.error = end.error ? `${end.error} ${why}` : why
    }
    const write = (given: HostState[]) =>
      patiently(() => finishJobRun(this.ctx, { ...this.claim, execAt: this.child?.execAt, ...end, artifacts, hosts: given }))
    this.watch.end()
    try {
      await write(hosts).catch((err) => {
        if (err instanceof ClaimLost || isDatabaseAway(err)) throw err
        this.ctx.log.error({ err }, 'the database refuses how the hosts of a run stand')
        return write([])
      })
    } catch (error) {
      // Also when our own earlier attempt went through and only its answer was lost.
      if (!(error instanceof ClaimLost)) throw error
      this.ctx.log.warn('the run was ended by somebody else')
    }
  }

  /** Store the log and what the playbook left. `why`: what the operator is to know when that did not succeed. */
  private async keep(said: string | null): Promise<{ artifacts: StoredArtifact[]; why: string | null }> {
    const { ctx, deps, run, directory, writer } = this
    try {
      const most = deps.config.ARTIFACT_MAX_SIZE * 1024 * 1024
      const { files, leftOut } = await collectFiles(artifactDir(directory.dir), join(directory.dir, 'kept'), most)
      if (leftOut.length > 0) {
        const shown = [...leftOut.slice(0, 20), ...(leftOut.length > 20 ? [`and ${leftOut.length - 20} more`] : [])].join(', ')
        await writer.push({ kind: 'notice', stdout: this.mask.text(`Not kept as artifacts: ${shown}.`), createdAt: new Date() })
        await writer.drain()
      }
      const { store, storePatienceMs: patienceMs } = deps
      const { signal } = this.hurry
      const artifacts = await keepArtifacts(ctx, run, { store, dir: directory.dir, files, said, signal, patienceMs })
      return { artifacts, why: null }
    } catch (error) {
      ctx.log.error({ err: error }, 'the log and the files of a run are not stored')
      const reason = error instanceof StoreAway ? error.message : `The log of the worker ${run.claimedBy} says why.`
      return { artifacts: [], why: `${NOT_KEPT} ${reason}` }
    }
  }
}

/** Why ansible-playbook did not get to the end of its plays. Null when it did: 0, or 2 or 4 for failed or unreachable hosts. */
function whyAborted(exitCode: number | null): string | null {
  if (exitCode === null || [0, 2, 4].includes(exitCode)) return null
  const killedBy = Object.entries(constants.signals).find(([, number]) => number === exitCode - 128)?.[0]
  const what = killedBy
    ? `was killed by signal ${exitCode - 128} (${killedBy}); if nobody did that, its machine may have run out of memory`
    : `broke off with code ${exitCode}; the end of its log may say why`
  return `ansible-playbook ${what}. Look at the hosts, then run it again.`
}

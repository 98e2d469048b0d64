import { fileURLToPath } from 'node:url'
import type { loadConfig } from '@muster/core/config'
import type { Ctx } from '@muster/core/context'
import { type NodeAccess, resolveNodeAccess } from '@muster/core/credentials/access'
import type { DomainError } from '@muster/core/errors'
import type { Listener } from '@muster/core/events'
import { type Claim, ClaimLost, type EndedBy, finishJobRun, type JobRun, touchJobRun } from '@muster/core/jobs'
import { recordDiscoveryOfRun } from '@muster/core/nodes'
import { type Child, startAnsible } from './child.ts'
import { endLeftovers } from './end-leftovers.ts'
import { endRemoteProcesses } from './end-remote.ts'
import { HostStates } from './host-states.ts'
import { takeIn } from './intake.ts'
import { LogWriter, patiently } from './log-writer.ts'
import { createMask, type Mask } from './mask.ts'
import { closeMasters } from './masters.ts'
import { planRun, type RunPlan, secretsOf } from './plan-run.ts'
import { reportNodes } from './report-nodes.ts'
import { createRunDirectory, type RunDirectory } from './run-directory.ts'
import { writeRunFiles } from './run-files.ts'
import { serveRunSecrets } from './run-secrets.ts'

export const EXECUTOR_SETTINGS = [
  'ANSIBLE_WORK_DIR',
  'ANSIBLE_PLAYBOOK_REPO_PATH',
  'ANSIBLE_PLAYBOOK',
  'JOB_CANCEL_GRACE_PERIOD',
  'SSH_TIMEOUT',
] as const
export type ExecutorConfig = ReturnType<typeof loadConfig<(typeof EXECUTOR_SETTINGS)[number]>>

type Deps = { config: ExecutorConfig; listener: Listener; stopping: AbortSignal }

const SHIPPED_PLAYBOOKS = fileURLToPath(new URL('../../../../playbooks', import.meta.url))
const TOUCH_MS = 5000
const STATES_MS = 1000

/** Why we end a run ourselves. */
type Stop = { by: Exclude<EndedBy, 'exit' | 'lost'> | 'fenced'; error: string | null; said: string }

/**
 * Execute a claimed run from beginning to end: whatever happens, its processes, connections and directory are gone when this
 * resolves, and its row says how it ended, unless it has become another worker's.
 */
export async function executeRun(deps: Deps, ctx: Ctx, claim: Claim): Promise<void> {
  const began = performance.now()
  const { run } = claim
  const log = ctx.log.child({ run: run.id })
  const ids = claim.hosts.flatMap((host) => host.nodeId ?? [])
  const [access, directory] = await Promise.allSettled([
    resolveNodeAccess(ctx, ids),
    createRunDirectory(deps.config.ANSIBLE_WORK_DIR, run.id),
  ])
  const execution = new Execution(deps, { ...ctx, log }, claim)
  if (access.status === 'rejected' || directory.status === 'rejected') {
    if (directory.status === 'fulfilled') await directory.value.remove()
    const cause = access.status === 'rejected' ? access.reason : directory.status === 'rejected' ? directory.reason : null
    log.error({ err: cause }, 'cannot prepare the run')
    const what =
      access.status === 'rejected'
        ? 'The credentials could not be read'
        : `No directory could be made in ${deps.config.ANSIBLE_WORK_DIR}`
    await execution.finish({ by: 'error', error: `${what}; see the worker's log.`, said: `${what}.` }, null)
    return
  }
  try {
    await execution.carryOut(access.value, directory.value, began)
  } finally {
    await directory.value
      .remove()
      .catch((err) => log.error({ err, dir: directory.value.dir }, 'cannot remove the directory of a run'))
  }
}

class Execution {
  private readonly deps: Deps
  private readonly ctx: Ctx
  private readonly run: JobRun
  private readonly claim: { id: string; token: string }
  private readonly hosts: Claim['hosts']
  private states: HostStates
  private mask: Mask = createMask([])
  private stop: Stop | null = null
  private child: Child | null = null
  private readonly evidence = new Set<Promise<void>>()

  constructor(deps: Deps, ctx: Ctx, { run, token, hosts }: Claim) {
    this.deps = deps
    this.ctx = ctx
    this.run = run
    this.claim = { id: run.id, token }
    this.hosts = hosts
    this.states = new HostStates(
      hosts.map((host) => host.name),
      this.mask,
    )
  }

  async carryOut(access: Map<string, NodeAccess | DomainError>, directory: RunDirectory, began: number): Promise<void> {
    const { ctx, run } = this
    const plan = planRun(this.hosts, access)
    this.mask = createMask(secretsOf(plan))
    this.states = new HostStates(
      this.hosts.map((host) => host.name),
      this.mask,
    )
    const writer = new LogWriter(ctx, { ...this.claim, seq: run.lastSeq })
    for (const { name, reason } of plan.refused) {
      this.states.refuse(name, reason)
      await writer.push({
        kind: 'unreachable',
        host: name,
        stdout: `fatal: [${name}]: UNREACHABLE! => ${reason}`,
        createdAt: new Date(),
      })
    }
    if (plan.targets.length === 0) {
      await writer.drain()
      return this.finish(
        { by: 'error', error: 'None of its hosts can be reached: each says why.', said: 'No host can be reached.' },
        null,
      )
    }
    const exitCode = await this.withAnsible(plan, directory, writer, began)
    await writer.drain()
    await Promise.all(this.evidence)
    await this.finish(this.stop, exitCode)
    if (this.stop?.by !== 'fenced') await reportNodes(ctx, plan, this.states)
  }

  /** Start ansible-playbook, take in what it says, and clean up behind it. @returns its exit code, null when it did not start */
  private async withAnsible(plan: RunPlan, directory: RunDirectory, writer: LogWriter, began: number): Promise<number | null> {
    const { ctx, run, deps } = this
    const { config } = deps
    const playbooks = config.ANSIBLE_PLAYBOOK_REPO_PATH ?? SHIPPED_PLAYBOOKS
    const secrets = await serveRunSecrets(directory.sshDir, plan)
    const watch = new Watch()
    try {
      const files = await writeRunFiles({ ...directory, playbooks, connectTimeoutS: Math.ceil(config.SSH_TIMEOUT) }, run, plan)
      const prepared = performance.now()
      const child = await startAnsible({ ansiblePlaybook: config.ANSIBLE_PLAYBOOK, playbooks }, run, directory, files)
      this.child = child
      ctx.log.info(
        {
          hosts: plan.targets.length,
          waitMs: began - prepared + Date.now() - run.createdAt.getTime(),
          prepareMs: prepared - began,
          spawnMs: performance.now() - prepared,
        },
        'ansible-playbook started',
      )
      this.keepWatch(watch, child, writer)
      const onEvidence = (host: string, text: string) => this.keepEvidence(plan, host, text)
      await takeIn(child, { writer, states: this.states, mask: this.mask, log: ctx.log, onEvidence })
      return await child.exited
    } catch (error) {
      if (this.child) throw error
      ctx.log.error({ err: error }, 'ansible-playbook did not start')
      const code = (error as NodeJS.ErrnoException).code
      const hint = code === 'ENOENT' ? 'it is not there; install ansible-core or set ANSIBLE_PLAYBOOK' : `see the worker's log`
      this.stop ??= { by: 'error', error: `ansible-playbook did not start: ${hint}.`, said: 'ansible-playbook did not start.' }
      return null
    } finally {
      watch.end()
      await this.cleanUp(plan, directory)
      secrets.close()
    }
  }

  /** Touch the row, hear of cancels, and end the run when it is to end. */
  private keepWatch(watch: Watch, child: Child, writer: LogWriter): void {
    const { ctx, deps, run } = this
    const graceMs = deps.config.JOB_CANCEL_GRACE_PERIOD * 1000
    let execAt: Date | undefined = child.execAt
    let touched = Date.now()
    const touch = async () => {
      const hosts = this.states.takeChanged()
      if (hosts.length === 0 && !execAt && Date.now() - touched < TOUCH_MS) return
      try {
        const seen = await patiently(() => touchJobRun(ctx, { ...this.claim, ...(execAt ? { execAt } : {}), hosts }))
        execAt = undefined
        touched = Date.now()
        if (seen.isCancelRequested)
          this.end({ by: 'cancel', error: null, said: `Canceled by ${seen.cancelRequestedByName}.` }, graceMs)
      } catch (error) {
        // Once the run has ended the row is closed, and a touch that was under way finds it so.
        if (!watch.isOver) this.fence(error as Error)
      }
    }
    watch.every(STATES_MS, touch)
    void touch()
    watch.on(
      deps.listener.on('cancel', run.id, () => {
        touched = 0
        void touch()
      }),
    )
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
    void writer.failed.then((error) => this.fence(error))
  }

  /** The row is not ours to write any more: end everything at once, somebody else may be running it again. */
  private fence(error: Error): void {
    this.ctx.log.warn({ err: error }, error instanceof ClaimLost ? 'the run was taken away' : 'the run cannot be written')
    this.end({ by: 'fenced', error: null, said: '' }, 0)
  }

  private end(stop: Stop, graceMs: number): void {
    if (this.stop && stop.by !== 'fenced') return
    this.stop = stop
    this.ctx.log.info({ by: stop.by }, 'ending the run')
    this.child?.stop(graceMs)
  }

  /** End what the run left running: here, on nodes in the middle of a task, and the connections to them. */
  private async cleanUp(plan: RunPlan, { sshDir, marker }: RunDirectory): Promise<void> {
    try {
      const midTask = new Set(this.states.all().flatMap((state) => (state.result === 'RUNNING' ? [state.name] : [])))
      if (!this.stop && midTask.size === 0) return await closeMasters(sshDir)
      const nodes = plan.targets.flatMap(({ name, machine, become }) =>
        machine && midTask.has(name) ? [{ alias: machine.alias, become: this.run.become ? become : null }] : [],
      )
      await endLeftovers(sshDir, marker, () => endRemoteProcesses(sshDir, nodes))
    } catch (err) {
      this.ctx.log.error({ err }, 'could not clean up after a run')
    }
  }

  private async keepEvidence(plan: RunPlan, host: string, text: string): Promise<void> {
    const nodeId = plan.targets.find((target) => target.name === host)?.nodeId
    if (!nodeId) return
    const kept = recordDiscoveryOfRun(this.ctx, { nodeId, evidence: Buffer.from(text) }).then(
      () => {},
      (err) => this.ctx.log.warn({ err, host }, 'could not keep what the probe found'),
    )
    this.evidence.add(kept)
    void kept.then(() => this.evidence.delete(kept))
    // Reading on waits for room, so that a thousand probes do not lie in memory at once.
    if (this.evidence.size >= 4) await Promise.race(this.evidence)
  }

  async finish(stop: Stop | null, exitCode: number | null): Promise<void> {
    if (stop?.by === 'fenced') return
    const hosts = this.states.all()
    const midTask = hosts.filter((host) => host.result === 'RUNNING').map((host) => host.name)
    const didNothing = !stop && exitCode !== 0 && hosts.every((host) => host.result === 'PENDING')
    try {
      await patiently(() =>
        finishJobRun(this.ctx, {
          ...this.claim,
          hosts,
          execAt: this.child?.execAt,
          endedBy: stop?.by === undefined ? 'exit' : (stop.by as EndedBy),
          exitCode,
          error: didNothing
            ? `ansible-playbook ended with code ${exitCode} before it reached any host; its log says why.`
            : (stop?.error ?? null),
          said: stop ? `${stop.said}${midTask.length > 0 ? ` In the middle of a task: ${midTask.join(', ')}.` : ''}` : null,
        }),
      )
    } catch (error) {
      // Also when our own earlier attempt went through and only its answer was lost.
      if (!(error instanceof ClaimLost)) throw error
      this.ctx.log.warn('the run was ended by somebody else')
    }
  }
}

/** Timers and subscriptions of one run, ended together. */
class Watch {
  isOver = false
  private readonly ends: (() => void)[] = []

  on(end: () => void): void {
    this.ends.push(end)
  }

  /** Like setInterval, but never twice at once. */
  every(ms: number, work: () => Promise<void>): void {
    let isBusy = false
    const timer = setInterval(async () => {
      if (isBusy) return
      isBusy = true
      await work()
      isBusy = false
    }, ms)
    this.on(() => clearInterval(timer))
  }

  after(ms: number, work: () => void): void {
    const timer = setTimeout(work, Math.min(ms, 2 ** 31 - 1))
    this.on(() => clearTimeout(timer))
  }

  end(): void {
    this.isOver = true
    for (const end of this.ends.splice(0)) end()
  }
}

import type { Ctx } from '@muster/core/context'
import type { Claim } from '@muster/core/run-queue'
import type { JobRun } from '@muster/core/runs'
import type { Deps } from './deps.ts'
import { finishRun } from './finish-run.ts'
import { type RunPlan, secretsOf } from './inventory/plan-run.ts'
import type { WrapCommand } from './isolation/isolation.ts'
import { consumeOutput } from './output/consume-output.ts'
import { createEvidenceRecorder, type EvidenceRecorder } from './output/evidence-recorder.ts'
import { HostStates } from './output/host-states.ts'
import { LogWriter } from './output/log-writer.ts'
import { createMask, type Mask } from './output/mask.ts'
import { ansibleEnvironment, startAnsible } from './process/ansible-process.ts'
import { openControlMasters } from './process/control-masters.ts'
import { cleanUpFinishedRun, killLeftoverProcesses } from './process/kill-leftover-processes.ts'
import { killRemoteProcesses } from './process/kill-remote-processes.ts'
import { recordReachability } from './record-reachability.ts'
import { environmentOf } from './run-directory/run-directory.ts'
import { writeRunFiles } from './run-directory/run-files.ts'
import type { RunDirectory } from './run-directory/run-paths.ts'
import { playbookRoot } from './run-directory/shipped-playbooks.ts'
import { serveRunSecrets } from './secrets/run-secrets.ts'
import { materialize } from './source/materialize.ts'
import { Supervision } from './supervision.ts'

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
  private readonly supervision: Supervision
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
    this.supervision = new Supervision(deps, ctx, run, this.claim, this.states)
    this.writer = new LogWriter(ctx, { ...this.claim, seq: run.lastSeq })
    this.evidence = createEvidenceRecorder(ctx, plan)
  }

  /** @param began performance.now() at the claim, for the log */
  async execute(began: number): Promise<void> {
    const { deps, ctx, run, claim, directory, mask, states, writer, supervision } = this
    void this.writer.failed.then((error) => supervision.onWriteFailure(error))
    for (const { name, reason } of this.plan.rejected) {
      this.states.reject(name, reason)
      const stdout = `fatal: [${name}]: UNREACHABLE! => ${reason}`
      await this.writer.push({ kind: 'unreachable', host: name, stdout, createdAt: new Date() })
    }
    if (this.plan.targets.length > 0) await this.runAnsible(began)
    else
      supervision.stop = {
        by: 'error',
        error: 'None of its hosts can be reached; each host shows the reason.',
        closingLine: 'No host can be reached.',
      }
    await this.writer.drain()
    await this.evidence.drain()
    if (!supervision.isFenced) {
      const ended = { deps, ctx, run, claim, directory, mask, states, writer, supervision }
      await finishRun(ended, this.interruptedHosts(), this.closing)
    }
    await this.closing
    supervision.disposables.dispose()
    if (supervision.isFenced) return
    await recordReachability(this.ctx, this.plan, this.states)
  }

  /** Starts ansible-playbook, consumes its output, and kills what it leaves behind. Sets `exitCode` or `stop` of the supervision. */
  private async runAnsible(began: number): Promise<void> {
    const { config } = this.deps
    const { ctx, run, plan, directory, supervision } = this
    const playbooks = playbookRoot(config)
    let closeSecrets = () => {}
    let stopConnecting = () => false
    try {
      const renewNow = supervision.start()
      const { gitProtocols: protocols } = this.deps
      const source = await materialize(ctx, run, this.claim.token, {
        directory,
        playbooks,
        isolation: this.deps.isolation,
        signal: supervision.ending.signal,
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
      supervision.ending.signal.throwIfAborted()
      const child = await startAnsible(config.ANSIBLE_PLAYBOOK, source.playbook, run, directory, files, launch)
      supervision.child = child
      // Set at once: a cancel during the last output does not change how the run ended.
      void child.exited.then((code) => {
        supervision.exitCode = code
      })
      if (supervision.ending.signal.aborted) child.stop(0)
      renewNow()
      const aliases = plan.bastions.map((bastion) => bastion.alias)
      stopConnecting = openControlMasters(directory.sshDir, aliases, launch)
      const timings = { hosts: plan.targets.length, prepareMs: prepared - began, spawnMs: performance.now() - prepared }
      ctx.log.info({ ...timings, waitMs: child.ansibleStartedAt.getTime() - run.createdAt.getTime() }, 'ansible-playbook started')
      const { writer, states, mask, evidence } = this
      this.hasStrays = await consumeOutput(child, { writer, states, mask, log: ctx.log, onEvidence: evidence.record })
    } catch (error) {
      // A run that is stopped before its process started has nothing to report.
      if (supervision.child || !supervision.ending.signal.aborted) supervision.failInternally(error)
    }
    supervision.exitCode = (await supervision.child?.exited) ?? null
    if (stopConnecting()) this.hasStrays = true
    await this.cleanUp().catch((err) => ctx.log.error({ err }, 'cleanup after a run failed'))
    closeSecrets()
  }

  /** Kills what the run left running: here, on nodes with a task in progress, and the connections to them. */
  private async cleanUp(): Promise<void> {
    const { directory, wrapCommand } = this
    const { dir, sshDir, marker, user } = directory
    const masters = { sshDir, wrapCommand, env: environmentOf(dir) }
    const interrupted = new Set(this.interruptedHosts())
    if (!this.supervision.stop && !this.hasStrays && interrupted.size === 0) {
      this.closing = cleanUpFinishedRun({ masters, marker, user }, this.deps.isolation).catch((err) =>
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
}

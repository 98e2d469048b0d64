import type { SlurmCluster } from '@muster/core/clusters'
import type { Ctx } from '@muster/core/context'
import type { JobRun, JobRunHost } from '@muster/core/runs'
import type { SlurmOperation, SlurmOperationNode, SlurmOperationNodeProgress, SlurmSaltJob } from '@muster/core/slurm-operations'
import type { Session } from '../../ssh/exec.ts'
import type { SaltClient, SaltState } from '../salt/salt-client.ts'

/** The operation cannot succeed; it is undone. The message is for the operator, with the next step. */
export class OperationFailure extends Error {}
/** A job run cannot start, for example because one of its nodes is in maintenance. */
export class RunRefused extends OperationFailure {}
/** A user canceled the operation; it is undone. */
export class OperationCanceled extends OperationFailure {}
/** Another worker has the operation now; this one must stop. */
export class OperationTakenOver extends Error {}

/** An ended run; `hosts` by node ID. */
export type FinishedRun = { run: JobRun; hosts: Map<string, JobRunHost> }

/** A session on a host of the controllers, with what each command needs. */
export type ControllerContext = {
  session: Session
  programFolder: string | null
  timeoutMs: number
  signal: AbortSignal
}

export type OperationContext = {
  ctx: Ctx
  row: SlurmOperation
  /** Name of the current step. */
  step: string
  cluster: SlurmCluster
  /** Current progress; `updateNodes` changes it. */
  nodes: SlurmOperationNode[]
  /** Fires when the worker stops, the claim is lost, or a user cancels the operation. Undo steps are not canceled. */
  signal: AbortSignal
  /**
   * Starts a job run of a shipped template, or finds the one that an earlier execution of this step started, and waits for its end.
   * @param name distinguishes several runs of one step
   */
  startRun(template: string, nodeIds: string[], extraVars: Record<string, unknown>, name?: string): Promise<FinishedRun>
  /**
   * Runs work on a controller's host, or on the backup's when the first one does not answer. Repeats it when the connection fails, so it
   * must tolerate that.
   * @throws OperationFailure
   */
  slurm<T>(work: (controller: ControllerContext) => Promise<T>): Promise<T>
  /** Runs work on a node of the inventory, and repeats it like `slurm`. @throws OperationFailure */
  onNode<T>(nodeId: string, work: (controller: ControllerContext) => Promise<T>): Promise<T>
  /** A client of the cluster's salt-api; null where it does not use Salt. @throws DomainError its credential cannot be used */
  salt(): Promise<SaltClient | null>
  /** Records a job before Salt gets it, and its end. */
  recordSaltJob(job: SlurmSaltJob, state: SaltState): Promise<void>
  updateNodes(nodes: SlurmOperationNodeProgress[]): Promise<void>
  /** Shows a text at the current step. */
  report(message: string): Promise<void>
}

/** What a check of nodes needs; it changes nothing. */
export type CheckContext = Pick<OperationContext, 'ctx' | 'signal' | 'slurm' | 'onNode' | 'salt'> & {
  cluster: Pick<SlurmCluster, 'id' | 'name' | 'install'> & Partial<Pick<SlurmCluster, 'saltInstalls'>>
}

/** Repeating a step does no harm: it first looks at what is done already, then acts, then verifies. */
export type Step = { name: string; run(op: OperationContext): Promise<void> }
/** `undo` runs after a failure or a cancel, in its own order, whichever steps ran before. */
export type Workflow = { steps: Step[]; undo: Step[] }

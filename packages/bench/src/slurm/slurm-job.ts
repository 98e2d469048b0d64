import type { Lab } from '@muster/lab'
import type { Client } from '../client.ts'
import { CREATE_CREDENTIAL } from '../documents.ts'
import type { VariablesOf } from '../graphql.ts'
import { addCluster, readCluster, refreshCluster } from './cluster.ts'
import { ACTION_UPDATED, START_ACTION, UPDATE_NODE } from './documents.ts'

/** Figures of the part of the main job on a Slurm cluster; see `isExpected`. */
export type SlurmFigures = {
  slurmNodes: number
  /** States of the node in Slurm after the actions. */
  drained: string
  resumed: string
  /** Jobs that Muster shows before and after the cancel. */
  submittedJobs: number
  canceledJobs: number
  /** Whether the job that ran on the drained node still runs. */
  jobSurvived: boolean
}

/**
 * Adopts the lab's running cluster, drains a node with a running job and resumes it, and cancels a job that a user of the cluster
 * submitted.
 */
export async function slurmJob(
  api: Client,
  lab: Lab,
  ids: Map<string, string>,
  print: (text: string) => void,
): Promise<SlurmFigures> {
  const slurm = lab.slurm!
  await slurm.ready()
  const node = slurm.compute[0]!.name
  const survivor = await slurm.submit('sleep 3600', [`--nodelist=${node}`])
  await waitFor(`job ${survivor} runs`, async () => (await stateOf(lab, survivor)) === 'RUNNING')
  const controllerId = ids.get(slurm.controllers[0]!.name)!
  await logInAsRoot(api, lab, controllerId)
  const id = await addCluster(api, 'lab', controllerId)
  const adopted = await readCluster(api, id)
  print(`cluster ${adopted.clusterName} adopted: ${adopted.totals.nodes} nodes, Slurm ${adopted.version}`)

  // Slurm marks a node with * until its slurmd has answered again.
  const nodeState = async () =>
    (await slurm.run(['sinfo', '--noheader', '--Node', '--partition=batch', `--nodes=${node}`, '--format=%T'])).stdout
      .trim()
      .replace('*', '')
  await act(api, { clusterId: id, verb: 'DRAIN_NODES', nodes: { hostlist: node }, reason: 'main job' })
  const drained = await nodeState()
  await act(api, { clusterId: id, verb: 'RESUME_NODES', nodes: { hostlist: node }, reason: 'main job' })
  const resumed = await nodeState()
  print(`${node}: ${drained}, then ${resumed}`)

  const job = await slurm.submit('sleep 3600', ['--begin=now+1hour'])
  await refreshCluster(api, id)
  const submitted = (await readCluster(api, id)).totals.jobs
  await act(api, { clusterId: id, verb: 'CANCEL_JOBS', jobs: { ids: [job] }, reason: 'main job' })
  const canceled = await stateOf(lab, job)
  const jobSurvived = (await stateOf(lab, survivor)) === 'RUNNING'
  print(`job ${job} canceled: ${canceled}; job ${survivor} ${jobSurvived ? 'still runs' : 'was lost'}`)
  await slurm.run(['scancel', survivor])
  return {
    slurmNodes: adopted.totals.nodes,
    drained,
    resumed,
    submittedJobs: submitted,
    canceledJobs: canceled === 'CANCELLED' ? 1 : 0,
    jobSurvived,
  }
}

export const isExpected = (figures: SlurmFigures, lab: Lab): boolean =>
  figures.slurmNodes === lab.slurm!.compute.length &&
  figures.drained === 'draining' &&
  figures.resumed === 'mixed' &&
  figures.submittedJobs === 2 &&
  figures.canceledJobs === 1 &&
  figures.jobSurvived

/** Actions need an account with Slurm's operator level. */
async function logInAsRoot(api: Client, lab: Lab, nodeId: string): Promise<void> {
  const { username, privateKey } = lab.credentials.rootKey!
  const { credential } = await api.mutate(CREATE_CREDENTIAL, {
    input: { name: 'lab root', kind: 'SSH_KEY', username, privateKey },
  })
  await api.mutate(UPDATE_NODE, { input: { id: nodeId, credentialId: credential.id } })
}

/** The state of a job; empty when slurmctld does not know it. */
async function stateOf({ slurm }: Lab, job: string): Promise<string> {
  return (await slurm!.run(['squeue', '--noheader', '--states=all', '--format=%T', `--jobs=${job}`])).stdout.trim()
}

async function waitFor(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000
  while (!(await isTrue())) {
    if (Date.now() > deadline) throw new Error(`Timed out: ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

/** Runs an action to its end. @throws Error unless it succeeds */
async function act(api: Client, input: VariablesOf<typeof START_ACTION>['input']): Promise<void> {
  const { slurmAction } = await api.mutate(START_ACTION, { input })
  for await (const { slurmActionUpdated: action } of api.subscribe(ACTION_UPDATED, { id: slurmAction.id })) {
    if (action.finishedAt === null) continue
    if (action.status !== 'SUCCEEDED') throw new Error(`${input.verb} ended with ${action.status}: ${JSON.stringify(action)}`)
    return
  }
}

import { type OwnedLab, SLURM_NODE_LIMITS, serveSlurmPackages, startLab } from '@muster/lab'
import type { Client } from '../client.ts'
import { discover, onboard } from '../onboard.ts'
import { CREATE_CLUSTER, OPERATION_UPDATED, PREVIEW_SCALE_IN, PREVIEW_SCALE_OUT, SCALE_IN, SCALE_OUT } from './documents.ts'

const CONTROLLER = 'ctl-m'
const COMPUTE = ['cpu-m1', 'cpu-m2', 'cpu-m3', 'cpu-m4']
export const MANAGED_NODES = [CONTROLLER, ...COMPUTE]
/** Longest accepted time in seconds between two lines of the job, which writes one per second. */
const MAX_GAP_SECONDS = 3

/** Figures of the part of the main job on a managed cluster; see `isExpected`. */
export type ManagedFigures = {
  /** Nodes that slurmctld has after the creation, the scale-out and the scale-in. */
  managedNodes: number[]
  /** Longest time between two lines of a job that ran meanwhile. */
  managedJobGapSeconds: number
}

/** Creates a cluster of two nodes from Debian's packages, grows it to four and shrinks it to three, while a job writes a line per second. */
export async function managedJob(api: Client, print: (text: string) => void): Promise<ManagedFigures> {
  const lab = await startLab({ nodes: MANAGED_NODES.map((name) => ({ name, profile: 'cpu' })), bastion: false })
  const repository = await serveSlurmPackages(lab)
  try {
    const ids = await onboard(api, lab, 'managed lab')
    await discover(api, [...ids.values()])
    const idsOf = (names: string[]) => names.map((name) => ids.get(name)!)
    const managedNodes: number[] = []
    const count = async () => {
      const nodes = (await run(lab, CONTROLLER, ['sinfo', '--noheader', '--Node', '--format=%N %T'])).trim().split('\n')
      managedNodes.push(nodes.length)
      print(`managed cluster: ${nodes.join(', ')}`)
    }

    const { slurmOperation } = await api.mutate(CREATE_CLUSTER, {
      input: {
        name: 'managed',
        controllerNodeId: ids.get(CONTROLLER)!,
        computeNodeIds: idsOf(COMPUTE.slice(0, 2)),
        maxNodes: 4,
        repositoryUrl: repository.url,
        extraLines: [...SLURM_NODE_LIMITS],
        reason: 'main job',
      },
    })
    const clusterId = slurmOperation.cluster.id
    await finish(api, slurmOperation.id)
    await count()
    const script = '#!/bin/sh\nwhile :; do date +%s >> /tmp/lines; sleep 1; done\n'
    await run(lab, CONTROLLER, ['sbatch', `--nodelist=${COMPUTE[0]}`, '--chdir=/tmp', '--output=/dev/null'], script)

    const growth = { clusterId, nodeIds: idsOf(COMPUTE.slice(2)) }
    const { previewSlurmScaleOut: out } = await api.request(PREVIEW_SCALE_OUT, { input: growth })
    if (out.__typename !== 'SlurmScaleOutPreview') throw new Error(`The scale-out has no preview: ${JSON.stringify(out)}`)
    const grown = await api.mutate(SCALE_OUT, { input: { ...growth, fingerprint: out.fingerprint, reason: 'main job' } })
    await finish(api, grown.slurmOperation.id)
    await count()

    const shrink = { clusterId, hostlist: COMPUTE[2]! }
    const { previewSlurmScaleIn: back } = await api.request(PREVIEW_SCALE_IN, { input: shrink })
    if (back.__typename !== 'SlurmScaleInPreview') throw new Error(`The scale-in has no preview: ${JSON.stringify(back)}`)
    const { fingerprint } = back
    const shrunk = await api.mutate(SCALE_IN, { input: { ...shrink, fingerprint, deadlineSeconds: 60, reason: 'main job' } })
    await finish(api, shrunk.slurmOperation.id)
    await count()

    const times = (await run(lab, COMPUTE[0]!, ['cat', '/tmp/lines'])).trim().split('\n').map(Number)
    // The last line must be new, too.
    const now = Number(await run(lab, COMPUTE[0]!, ['date', '+%s']))
    const gaps = [...times, now].slice(1).map((time, i) => time - times[i]!)
    return { managedNodes, managedJobGapSeconds: Math.max(...gaps) }
  } finally {
    await repository.close()
    await lab.down()
  }
}

export const isExpected = ({ managedNodes, managedJobGapSeconds }: ManagedFigures): boolean =>
  managedNodes.join() === '2,4,3' && managedJobGapSeconds <= MAX_GAP_SECONDS

/** Follows an operation to its end. @throws Error unless it succeeds */
async function finish(api: Client, id: string): Promise<void> {
  for await (const { slurmOperationUpdated: operation } of api.subscribe(OPERATION_UPDATED, { id })) {
    if (operation.finishedAt === null) continue
    if (operation.status !== 'SUCCEEDED') throw new Error(`${operation.kind} ended: ${JSON.stringify(operation)}`)
    return
  }
  throw new Error(`The operation ${id} ended without a result.`)
}

/** @returns standard output @throws Error when the command fails */
async function run(lab: OwnedLab, node: string, argv: string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await lab.node(node).exec(argv, input === undefined ? {} : { input })
  if (code !== 0) throw new Error(`${argv.join(' ')} on ${node}: ${stderr || stdout}`)
  return stdout
}

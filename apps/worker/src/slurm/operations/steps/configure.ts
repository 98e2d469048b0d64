import { DomainError } from '@muster/core/errors'
import { retryTransient } from '@muster/core/retry-transient'
import {
  type ConfigFiles,
  type ConfigPlan,
  readConfigHosts,
  readSlurmConfig,
  recordSlurmConfigDrift,
  recordSlurmConfigImport,
} from '@muster/core/slurm-configs'
import { configFolder, describeDifference, readConfigFiles } from '../config-files.ts'
import { type OperationContext, OperationFailure, type Workflow } from '../operation.ts'
import { undrainRemovedNodes } from '../removed-nodes.ts'
import { type ConfigChange, rolloutConfig, undoRollout } from '../rollout-config.ts'
import { validateConfig } from '../trial-start.ts'

type Input =
  | { action: 'IMPORT'; basedOn: number | null }
  | { action: 'CHECK'; from: number }
  | { action: 'VALIDATE'; number: number }
  | ({ action: 'ROLLOUT' } & ConfigChange)

/** Imports, compares or rolls out the configuration of a cluster. */
export const CONFIGURE: Workflow = {
  steps: [
    {
      name: 'configuration',
      async run(op) {
        const input = op.row.input as Input
        switch (input.action) {
          case 'IMPORT':
            return importConfig(op, input.basedOn)
          case 'CHECK':
            return checkDrift(op)
          case 'VALIDATE':
            return validate(op, input.number)
          case 'ROLLOUT':
            return rolloutConfig(op, input)
        }
      },
    },
  ],
  undo: [
    {
      name: 'restore configuration',
      async run(op) {
        const input = op.row.input as Input
        if (input.action !== 'ROLLOUT') return
        await undoRollout(op, input)
        if ((op.row.plan as ConfigPlan).removedNodes.length > 0) await undrainRemovedNodes(op)
      },
    },
  ],
}

const readFiles = (op: OperationContext, nodeId: string): Promise<ConfigFiles | null> =>
  op.onNode(nodeId, (controller) => readConfigFiles(controller, configFolder(op.cluster)))

async function importConfig(op: OperationContext, basedOn: number | null): Promise<void> {
  const { hosts } = await retryTransient(() => readConfigHosts(op.ctx, { operationId: op.row.id, clusterId: op.cluster.id }))
  const [first] = hosts
  const files = first ? await readFiles(op, first.nodeId) : null
  if (!first || !files)
    throw new OperationFailure(`${first?.name ?? 'The cluster'} has no ${configFolder(op.cluster)}/slurm.conf.`)
  try {
    await retryTransient(() => recordSlurmConfigImport(op.ctx, { operationId: op.row.id, files, basedOn }))
  } catch (error) {
    if (error instanceof DomainError) throw new OperationFailure(error.message)
    throw error
  }
  await checkDrift(op)
}

async function validate(op: OperationContext, number: number): Promise<void> {
  const [controller] = op.nodes
  const files = await retryTransient(() => readSlurmConfig(op.ctx, { clusterId: op.cluster.id, number }))
  const host = { nodeId: controller!.nodeId!, name: controller!.name }
  await validateConfig(op, host, { number, files })
}

/** Compares each host. A host that cannot be read is reported, and does not end the comparison. */
async function checkDrift(op: OperationContext): Promise<void> {
  const { hosts, files } = await retryTransient(() =>
    readConfigHosts(op.ctx, { operationId: op.row.id, clusterId: op.cluster.id }),
  )
  if (!files) throw new OperationFailure(`The configuration of the cluster ${op.cluster.name} was not imported yet.`)
  const drift: Record<string, string | null> = {}
  for (const { nodeId, name } of hosts) {
    try {
      drift[name] = describeDifference(files, await readFiles(op, nodeId))
    } catch (error) {
      if (!(error instanceof OperationFailure) || op.signal.aborted) throw error
      drift[name] = error.message
    }
    await op.updateNodes([{ name, phase: drift[name] === null ? 'SAME' : 'DIFFERS', message: drift[name] }])
  }
  await retryTransient(() => recordSlurmConfigDrift(op.ctx, { clusterId: op.cluster.id, drift }))
}

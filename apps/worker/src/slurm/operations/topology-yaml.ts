import { type SlurmCluster, slurmOperationMessages } from '@muster/core/clusters'
import { releaseNumber } from '@muster/slurm'
import { configFolder } from './config-files.ts'
import { type OperationContext, OperationFailure } from './operation.ts'

/** The first release that reads topology.yaml, in place of topology.conf. */
const FIRST_RELEASE = 25.05
const TIMEOUT_MS = 30_000

/**
 * Refuses to add and remove nodes where the controller reads a topology.yaml: Muster does not change it. Slurm gives nodes that are missing
 * in it no jobs.
 * @throws OperationFailure names the file and the next step
 */
export async function assertNoTopologyYaml(
  { slurm, cluster }: Pick<OperationContext, 'slurm'> & { cluster: Pick<SlurmCluster, 'settings'> },
  release: string,
): Promise<void> {
  if (releaseNumber(release) < FIRST_RELEASE) return
  const file = `${configFolder(cluster)}/topology.yaml`
  const isFound = await slurm(async ({ session, signal }) => {
    const script = `[ -e ${file} ] || sudo -n test -e ${file} 2>/dev/null && echo found\n`
    const { stdout } = await session.exec('sh -s', { stdin: script, timeoutMs: TIMEOUT_MS, maxBytes: 1024, signal })
    return stdout.toString('utf8').trim() === 'found'
  })
  if (isFound) throw new OperationFailure(slurmOperationMessages.topologyYaml({ file }))
}

import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { ago, isTable, printObject, printRows } from '../../output.ts'
import { clusterId, clusterNotFound, freshness, printOrWatch, withWatch } from './find-cluster.ts'

const GET = graphql(`query ClusterGet($id: ID!) {
  slurmCluster(id: $id) {
    id name kind region state programFolder reuseConfig reuseMungeKey reuseDatabase maxNodes saltEauth saltInstalls saltCredential { name } slurmrestdSocket slurmrestdCredential { name host port } slurmrestdProblem clusterName originalClusterName version
    controllerNode { name } backupNode { name } readNode { name } fallbackReason controllers { role hostname isUp }
    discoveredAt refreshedAt refreshDurationMs failingSince failureCount lastError nextRefreshAt settingsReadAt
    reservations { name startAt endAt nodeList nodeCount flags } licenses { name total used free reserved isRemote }
    totals { nodes cpus allocatedCpus gpus allocatedGpus jobs
      nodesByState { state nodes cpus allocatedCpus gpus allocatedGpus nodeList } jobsByState { state jobs } pendingReasons { reason jobs } }
    queries { query command state exitCode durationMs detail hint }
  }
}`)

export const clusterGet = () =>
  withWatch(
    new Command('get').description('show a cluster: its state, nodes by state, jobs and the last commands').argument('<name>'),
  )
    .withOutput()
    .action(async (name: string, options: Output & { watch?: boolean }) => {
      const id = await clusterId(name)
      await printOrWatch(id, options, async () => {
        const { slurmCluster: cluster } = await request(GET, { id })
        if (!cluster) throw clusterNotFound(name)
        if (!isTable(options)) return printObject(cluster, options, [['name', cluster.name]])
        printCluster(cluster, options)
      })
    })

type Cluster = NonNullable<ResultOf<typeof GET>['slurmCluster']>

function printCluster(cluster: Cluster, output: Output): void {
  const { totals } = cluster
  printObject(cluster, output, [
    ['name', cluster.name],
    ['state', freshness(cluster)],
    ...(cluster.lastError ? ([['error', cluster.lastError]] as [string, string][]) : []),
    [
      'next read',
      cluster.failureCount > 0 ? `${cluster.nextRefreshAt}, after ${cluster.failureCount} failures` : cluster.nextRefreshAt,
    ],
    ['cluster name', cluster.clusterName],
    ['version', cluster.version],
    ['kind', cluster.kind],
    ['region', cluster.region],
    ['controller node', cluster.controllerNode?.name],
    ['backup node', cluster.backupNode?.name],
    ['read through', cluster.fallbackReason ? `${cluster.readNode?.name}, because: ${cluster.fallbackReason}` : null],
    ['controllers', cluster.controllers.map((c) => `${c.role} ${c.hostname} ${c.isUp ? 'up' : 'DOWN'}`).join(', ')],
    ['never written', never(cluster)],
    ['max nodes', cluster.maxNodes],
    ...(cluster.saltCredential
      ? ([
          [
            'salt',
            `${cluster.saltCredential.name} (${cluster.saltEauth})${cluster.saltInstalls ? ', installs the packages' : ''}`,
          ],
        ] as [string, string][])
      : []),
    ...slurmrestdRows(cluster),
    ['cpus', `${totals.allocatedCpus} of ${totals.cpus} allocated`],
    ['gpus', `${totals.allocatedGpus} of ${totals.gpus} allocated`],
    ['jobs', totals.jobsByState.map(({ state, jobs }) => `${jobs} ${state}`).join(', ')],
    ['pending for', totals.pendingReasons.map(({ reason, jobs }) => `${jobs} ${reason}`).join(', ')],
    ['reservations', cluster.reservations.map(({ name, nodeList }) => `${name} (${nodeList})`).join(', ')],
    ['licenses', cluster.licenses.map(({ name, used, total }) => `${name} (${used} of ${total} used)`).join(', ')],
    ['discovered', ago(cluster.discoveredAt)],
  ])
  if (totals.nodes === 0) return
  process.stdout.write('\n')
  printRows(
    totals.nodesByState,
    [
      { title: 'STATE', value: (s) => s.state },
      { title: 'NODES', value: (s) => s.nodes },
      { title: 'CPUS', value: (s) => `${s.allocatedCpus}/${s.cpus}` },
      { title: 'GPUS', value: (s) => `${s.allocatedGpus}/${s.gpus}` },
      { title: 'NODELIST', value: (s) => s.nodeList },
    ],
    output,
  )
}

const never = ({ reuseConfig, reuseMungeKey, reuseDatabase }: Cluster): string =>
  [reuseConfig && 'slurm.conf', reuseMungeKey && 'munge.key', reuseDatabase && 'database'].filter(Boolean).join(', ')

function slurmrestdRows({ slurmrestdSocket, slurmrestdCredential, slurmrestdProblem }: Cluster): [string, string][] {
  if (!slurmrestdSocket && !slurmrestdCredential) return []
  const url = slurmrestdCredential && `${slurmrestdCredential.name} (${slurmrestdCredential.host}:${slurmrestdCredential.port})`
  return [['slurmrestd', slurmrestdProblem ? `NOT USED: ${slurmrestdProblem}` : (slurmrestdSocket ?? url ?? '')]]
}

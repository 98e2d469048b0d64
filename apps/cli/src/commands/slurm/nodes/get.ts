import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { ago, isTable, printObject, printRows } from '../../../output.ts'
import { givenCluster, printOrWatch, warnIfOld, withCluster, withWatch } from '../../clusters/find-cluster.ts'
import { slurmNodeId } from './find-node.ts'

const GET = graphql(`query SlurmNodeGet($id: ID!) {
  node(id: $id) { ... on SlurmNode {
    id name hostname address state states partitions reservation reason reasonUser reasonAt comment slurmdVersion architecture operatingSystem
    cpus allocatedCpus sockets coresPerSocket threadsPerCore cpuLoad memoryMiB allocatedMemoryMiB freeMemoryMiB
    gres { name type count used usedIndexes } features activeFeatures weight bootAt slurmdStartedAt lastBusyAt
    match matchedBy matchConflict matchCandidates { name } node { name acceleratorSummary { deviceType model count worstHealth } }
    differences { kind configured discovered }
    cluster { name state refreshedAt failingSince lastError }
  } }
}`)

export const slurmNodeGet = () =>
  withWatch(
    withCluster(
      new Command('get').description('show a node of a cluster, beside what Muster discovered on it').argument('<name>'),
    ),
  )
    .withOutput()
    .action(async (name: string, options: Output & { cluster?: string; watch?: boolean }) => {
      const cluster = await givenCluster(options)
      await printOrWatch(cluster, options, async () => {
        const { node } = await request(GET, { id: await slurmNodeId(cluster, name) })
        if (!node || !('states' in node)) return
        if (!isTable(options)) return printObject(node, options, [['name', node.name]])
        warnIfOld(node.cluster)
        printObject(node, options, [
          ['name', node.name],
          ['state', node.states.join('+')],
          ['reason', node.reason && `${node.reason} (${node.reasonUser ?? 'unknown'}, ${ago(node.reasonAt) ?? 'unknown time'})`],
          ['partitions', node.partitions.join(', ')],
          ['reservation', node.reservation],
          ['address', [node.address, node.hostname].join(', ')],
          ['cpus', `${node.allocatedCpus} of ${node.cpus} allocated, load ${node.cpuLoad ?? 'unknown'}`],
          [
            'memory',
            `${node.allocatedMemoryMiB} of ${node.memoryMiB} MiB allocated, ${node.freeMemoryMiB ?? 'unknown'} MiB free`,
          ],
          ['gres', node.gres.map((g) => `${g.used} of ${g.count} ${g.type ?? g.name} allocated`).join(', ')],
          ['features', node.activeFeatures.join(', ')],
          ['slurmd', node.slurmdVersion && `${node.slurmdVersion}, started ${ago(node.slurmdStartedAt)}`],
          ['booted', ago(node.bootAt)],
          ['last busy', ago(node.lastBusyAt)],
          [
            'node',
            node.node
              ? `${node.node.name} (${node.matchedBy})`
              : (node.matchConflict ?? (node.matchedBy ? 'none, chosen by a person' : null)),
          ],
          ['candidates', node.matchCandidates.map((candidate) => candidate.name).join(', ')],
          ['discovered', node.node?.acceleratorSummary.map((a) => `${a.count}x ${a.model ?? a.deviceType}`).join(', ')],
        ])
        if (node.differences.length === 0) return
        process.stdout.write('\n')
        printRows(
          node.differences,
          [
            { title: 'DIFFERENCE', value: (d) => d.kind },
            { title: 'SLURM', value: (d) => d.configured },
            { title: 'DISCOVERED', value: (d) => d.discovered },
          ],
          options,
        )
      })
    })

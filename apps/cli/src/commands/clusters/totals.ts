import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { isTable, printObject, printRows } from '../../output.ts'

const TOTALS = graphql(`query ClusterTotals {
  slurmTotals {
    clusters notAnswering nodes nodesInService cpus allocatedCpus gpus allocatedGpus runningJobs pendingJobs
    regions { region clusters notAnswering nodes nodesInService cpus allocatedCpus gpus allocatedGpus runningJobs pendingJobs }
    gpuModels { model gpus inService allocated idle clusters { idle gpus cluster { name } } }
  }
}`)

export const clusterTotals = () =>
  new Command('totals')
    .description('show totals of all clusters by region, and idle GPUs by model')
    .withOutput()
    .action(async (output: Output) => {
      const { slurmTotals: totals } = await request(TOTALS, {})
      if (!isTable(output)) return printObject(totals, output)
      printRows(
        [...totals.regions, { ...totals, region: 'all' }],
        [
          { title: 'REGION', value: (r) => r.region ?? '-' },
          { title: 'CLUSTERS', value: (r) => r.clusters },
          { title: 'NOT ANSWERING', value: (r) => r.notAnswering },
          { title: 'NODES', value: (r) => `${r.nodesInService}/${r.nodes}` },
          { title: 'CPUS', value: (r) => `${r.allocatedCpus}/${r.cpus}` },
          { title: 'GPUS', value: (r) => `${r.allocatedGpus}/${r.gpus}` },
          { title: 'RUNNING', value: (r) => r.runningJobs },
          { title: 'PENDING', value: (r) => r.pendingJobs },
        ],
        output,
        'No clusters yet. Add one with `muster cluster add`.',
      )
      if (totals.gpuModels.length === 0) return
      process.stdout.write('\n')
      printRows(
        totals.gpuModels,
        [
          { title: 'GPU', value: (m) => m.model },
          { title: 'IDLE', value: (m) => m.idle },
          { title: 'IN SERVICE', value: (m) => m.inService },
          { title: 'ALL', value: (m) => m.gpus },
          { title: 'IDLE BY CLUSTER', value: (m) => m.clusters.map((c) => `${c.cluster.name} ${c.idle}`).join(', ') },
        ],
        output,
        'No GPUs.',
      )
    })

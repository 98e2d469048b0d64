import { request } from '../../client.ts'
import { EXIT, orThrow } from '../../errors.ts'
import { graphql, type VariablesOf } from '../../graphql.ts'
import { plain } from '../../output.ts'
import type { SelectedNode } from '../../selector.ts'

const PREVIEW = graphql(`query NodeStatePreview($input: PreviewNodeStateInput!) {
  previewNodeState(input: $input) {
    __typename
    ... on NodeStatePreview {
      nodeCount hostlist runningJobs unknownJobsHostlist slurmJobIds openAlerts agentCount
      rejections { reason hostlist } clusters { name hostlist } runs { number templateName hostlist }
    }
    ... on Error { code message }
  }
}`)
type Change = VariablesOf<typeof PREVIEW>['input']['change']

/** Prints what a change of nodes would do now. Exits with 5 when it would be refused for some. */
export async function previewNodeState(nodes: SelectedNode[], change: Change): Promise<void> {
  const found = orThrow((await request(PREVIEW, { input: { nodeIds: nodes.map(({ id }) => id), change } })).previewNodeState)
  const lines = [
    `nodes: ${found.nodeCount} (${found.hostlist})`,
    `running jobs: ${found.runningJobs}${found.slurmJobIds.length > 0 ? ` (${found.slurmJobIds.join(', ')})` : ''}`,
    ...(found.unknownJobsHostlist ? [`running jobs unknown: ${found.unknownJobsHostlist}`] : []),
    ...found.clusters.map(({ name, hostlist }) => `asks Slurm: ${hostlist} of ${name}`),
    ...found.runs.map((run) => `continues: run ${run.number} (${run.templateName}) on ${run.hostlist}`),
    ...(change === 'DRAIN' ? [] : [`${change === 'MAINTENANCE' ? 'silences' : 'resolves'} alerts: ${found.openAlerts}`]),
    ...(found.agentCount > 0 ? [`deregisters agents: ${found.agentCount}`] : []),
    ...found.rejections.map(({ reason, hostlist }) => `refused: ${hostlist}: ${reason}`),
  ]
  process.stdout.write(plain(`${lines.join('\n')}\n`, false))
  if (found.rejections.length > 0) process.exitCode = EXIT.rejected
}

import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { confirmAction, YES_HELP } from '../../confirm.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer } from '../../options.ts'
import { count } from '../../output.ts'
import { nameList, SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { checkReadiness } from './check-readiness.ts'
import { clusterId } from './find-cluster.ts'
import { followOperation } from './operations/watch.ts'

const PREVIEW = graphql(`query ScaleOutPreview($input: PreviewSlurmScaleOutInput!) {
  previewSlurmScaleOut(input: $input) {
    __typename
    ... on SlurmScaleOutPreview {
      fingerprint blockedReason candidates { node { id name } slurmName cpus gres blockedReason }
      diff { file lines { kind text } } plan { controllers restartedNodes lost }
    }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}`)
const START = graphql(`mutation ScaleOut($input: ScaleOutSlurmClusterInput!) {
  scaleOutSlurmCluster(input: $input) {
    __typename ... on ScaleOutSlurmClusterPayload { slurmOperation { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

type Options = { partition: string[]; shardsPerGpu?: number; reason: string; check?: boolean; yes?: boolean; watch: boolean }

export const clusterScaleOut = () =>
  new Command('scale-out')
    .description('add nodes to a managed cluster: check them, install Slurm, run a test job on each')
    .argument('<name>', 'cluster')
    .argument('<selector>', SELECTOR_HELP)
    .requiredOption('--reason <text>', 'reason; recorded in the history and the audit log')
    .option(
      '--partition <name>',
      'partition that gets the nodes; can be repeated',
      (name: string, all: string[]) => [...all, name],
      [],
    )
    .option('--shards-per-gpu <n>', 'shards per whole GPU: the number of jobs that can share it (default: no shards)', integer)
    .option('--check', 'check the nodes over SSH, and start nothing')
    .option('-y, --yes', YES_HELP)
    .option('--no-watch', 'do not wait for the end')
    .action(async (name: string, selector: string, { partition, shardsPerGpu, reason, check, yes, watch }: Options) => {
      const input = {
        nodeIds: (await selectNodes(selector)).map(({ id }) => id),
        clusterId: await clusterId(name),
        partitions: partition,
        shardsPerGpu: shardsPerGpu ?? null,
      }
      const preview = orThrow((await request(PREVIEW, { input })).previewSlurmScaleOut)
      if (preview.blockedReason) throw new CliError(preview.blockedReason, EXIT.rejected)
      const blocked = preview.candidates.filter(({ blockedReason }) => blockedReason)
      for (const { node, blockedReason } of blocked) process.stderr.write(`${node.name} cannot join: ${blockedReason}\n`)
      if (blocked.length > 0) throw new CliError('Nothing was started. Leave these nodes out.', EXIT.rejected)
      if (check || !yes) {
        const failed = await checkReadiness({ clusterId: input.clusterId, nodeIds: input.nodeIds })
        if (failed.length > 0)
          throw new CliError(`${nameList(failed)} cannot join. Nothing was started. Leave these nodes out.`, EXIT.rejected)
        if (check) return void process.stderr.write('All nodes can join. Nothing was started.\n')
      }
      if (!yes) {
        for (const { slurmName, cpus, gres } of preview.candidates)
          process.stderr.write(`${slurmName}: ${cpus} CPUs${gres.length > 0 ? `, ${gres.join(', ')}` : ''}\n`)
        for (const sentence of preview.plan?.lost ?? []) process.stderr.write(`${sentence}\n`)
        const names = nameList(preview.candidates.map(({ node }) => node.name))
        await confirmAction(`Add ${count(preview.candidates.length, 'node')} to ${name}: ${names}.`)
      }
      const started = await request(START, { input: { ...input, fingerprint: preview.fingerprint, reason } })
      await followOperation(orThrow(started.scaleOutSlurmCluster).slurmOperation.id, { watch })
    })

import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { confirmAction, YES_HELP } from '../../confirm.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer } from '../../options.ts'
import { count } from '../../output.ts'
import { nameList } from '../../selector.ts'
import { clusterId } from './find-cluster.ts'
import { followOperation } from './operations/watch.ts'

const PREVIEW = graphql(`query ScaleInPreview($input: PreviewSlurmScaleInInput!) {
  previewSlurmScaleIn(input: $input) {
    __typename
    ... on SlurmScaleInPreview { fingerprint targets { name state jobs blockedReason } plan { controllers lost } }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}`)
const START = graphql(`mutation ScaleIn($input: ScaleInSlurmClusterInput!) {
  scaleInSlurmCluster(input: $input) {
    __typename ... on ScaleInSlurmClusterPayload { slurmOperation { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)
const DEFAULT_MINUTES = 60

type Options = { deadline: number; reason: string; yes?: boolean; watch: boolean }

export const clusterScaleIn = () =>
  new Command('scale-in')
    .description('remove nodes from a managed cluster: drain them, wait for their jobs, and remove Slurm from them')
    .argument('<name>', 'cluster')
    .argument('<hostlist>', 'names of the nodes in Slurm, such as gpu[003-004]')
    .requiredOption('--reason <text>', 'reason; recorded in the history and the audit log')
    .option('--deadline <minutes>', 'time for jobs to end; nodes with jobs after it stay', integer, DEFAULT_MINUTES)
    .option('-y, --yes', YES_HELP)
    .option('--no-watch', 'do not wait for the end')
    .action(async (name: string, hostlist: string, { deadline, reason, yes, watch }: Options) => {
      const input = { clusterId: await clusterId(name), hostlist }
      const preview = orThrow((await request(PREVIEW, { input })).previewSlurmScaleIn)
      const blocked = preview.targets.filter(({ blockedReason }) => blockedReason)
      for (const { name, blockedReason } of blocked) process.stderr.write(`${name} cannot be removed: ${blockedReason}\n`)
      if (blocked.length > 0) throw new CliError('Nothing was started. Leave these nodes out.', EXIT.rejected)
      if (!yes) {
        for (const { name, state, jobs } of preview.targets)
          process.stderr.write(`${name}: ${state ?? 'not listed'}${jobs.length > 0 ? `, jobs ${nameList(jobs)}` : ''}\n`)
        const names = nameList(preview.targets.map(({ name }) => name))
        await confirmAction(`Remove ${count(preview.targets.length, 'node')} from ${name}: ${names}.`)
      }
      const started = await request(START, {
        input: { ...input, fingerprint: preview.fingerprint, reason, deadlineSeconds: deadline * 60 },
      })
      await followOperation(orThrow(started.scaleInSlurmCluster).slurmOperation.id, { watch })
    })

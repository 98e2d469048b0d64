import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { confirmAction, YES_HELP } from '../../../confirm.ts'
import { CliError, EXIT, errorFrom } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { count } from '../../../output.ts'
import { formatDiff } from '../config/follow.ts'
import { clusterNotFound } from '../find-cluster.ts'

const UNAPPLIED = graphql(`query SnippetUnapplied { slurmClustersWithUnappliedSnippets { name } }`)

const PREVIEW = graphql(`query SnippetPreview($name: String!) {
  slurmCluster(name: $name) {
    id name configSnippetPreview { fingerprint isUpToDate blockedReason diff { file lines { kind text } } }
  }
}`)

const APPLY = graphql(`mutation SnippetApply($input: ApplySlurmConfigSnippetsInput!) {
  applySlurmConfigSnippets(input: $input) {
    __typename ... on ApplySlurmConfigSnippetsPayload { slurmConfigVersion { number } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

type Options = { reason: string; yes?: boolean }

async function preview(name: string) {
  const { slurmCluster } = await request(PREVIEW, { name })
  if (!slurmCluster) throw clusterNotFound(name)
  return slurmCluster
}

/** Applies the snippets of one cluster, independent of other clusters. @returns whether it succeeded */
async function apply(cluster: { id: string; name: string; fingerprint: string }, reason: string): Promise<boolean> {
  const { id, name, fingerprint } = cluster
  const { applySlurmConfigSnippets: result } = await request(APPLY, { input: { clusterId: id, fingerprint, reason } })
  if (result.__typename === 'ApplySlurmConfigSnippetsPayload') {
    const { number } = result.slurmConfigVersion
    process.stderr.write(
      `${name}: saved version ${number}. Roll it out with \`muster cluster config rollout ${name} ${number}\`.\n`,
    )
    return true
  }
  process.stderr.write(`${name}: ${errorFrom(result).message}\n`)
  return false
}

export const snippetApply = () =>
  new Command('apply')
    .description('preview and save versions of clusters with the lines of their snippets; nothing is rolled out')
    .argument('[clusters...]', 'default: all clusters with snippets that are not applied')
    .requiredOption('--reason <text>', 'reason, for the history and the audit log')
    .option('-y, --yes', YES_HELP)
    .action(async (given: string[], { reason, yes }: Options) => {
      const { slurmClustersWithUnappliedSnippets: unapplied } =
        given.length > 0 ? { slurmClustersWithUnappliedSnippets: [] } : await request(UNAPPLIED, {})
      const names = given.length > 0 ? given : unapplied.map(({ name }) => name)
      if (names.length === 0) {
        process.stderr.write('No cluster has unapplied snippets.\n')
        return
      }
      const ready: { id: string; name: string; fingerprint: string }[] = []
      let unchanged = 0
      for (const name of names) {
        const { id, configSnippetPreview: found } = await preview(name)
        if (found?.isUpToDate) {
          unchanged++
          process.stdout.write(`${name}: unchanged. Its newest version has the lines of all its snippets.\n`)
          continue
        }
        if (!found || found.blockedReason || !found.fingerprint) {
          process.stdout.write(`${name}: ${found?.blockedReason}\n`)
          continue
        }
        process.stdout.write(`${name}:\n${formatDiff(found.diff)}\n`)
        ready.push({ id, name, fingerprint: found.fingerprint })
      }
      const blocked = names.length - ready.length - unchanged
      if (ready.length > 0)
        await confirmAction(`Save a version of ${count(ready.length, 'configuration')}. Nothing is rolled out.`, yes)
      let applied = 0
      for (const cluster of ready) if (await apply(cluster, reason)) applied++
      const failed = ready.length - applied
      if (blocked + failed > 0)
        throw new CliError(
          `${[blocked > 0 && `${count(blocked, 'cluster')} cannot be applied`, failed > 0 && `${failed} failed`].filter(Boolean).join(', ')}. The others are not affected. See above, then apply again.`,
          EXIT.rejected,
        )
    })

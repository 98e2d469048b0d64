import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer } from '../../options.ts'
import { count } from '../../output.ts'
import { manifestInput, planManifests } from './diff.ts'
import { type ManifestOptions, PLAN, printPlan, withManifests } from './plan.ts'
import { waitForNodes } from './wait-for-nodes.ts'

type Options = ManifestOptions & { dryRun?: true; wait?: true; timeout: number }

const APPLY = graphql(
  `mutation ApplyManifests($input: ApplyManifestsInput!) {
    applyManifests(input: $input) {
      __typename
      ... on ApplyManifestsPayload { plan { ...Plan } }
      ... on Error { code message }
      ... on InvalidInputError { issues { path message } }
    }
  }`,
  [PLAN],
)

export const apply = () =>
  withManifests(new Command('apply').description('create and change objects as files describe them: all of them or none'))
    .option('--dry-run', 'show the plan only; the same as muster diff')
    .option('--wait', 'wait until all nodes in the files are READY, also those that do not change')
    .option('--timeout <seconds>', 'how long --wait waits before it fails', integer, 600)
    .action(async (options: Options) => {
      if (options.prune && !options.owner)
        throw new CliError('--prune needs --owner: it deletes what this owner applied earlier.', EXIT.usage)
      const input = await manifestInput(options)
      if (options.dryRun) return printPlan(await planManifests(input), options)
      process.stderr.write(`Applying ${count(input.files.length, 'file')} …\n`)
      const { plan } = orThrow((await request(APPLY, { input })).applyManifests)
      await printPlan(plan, options)
      if (options.wait && plan.isApplied) await waitForNodes(plan, options.timeout)
    })

import { setTimeout as sleep } from 'node:timers/promises'
import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer } from '../../options.ts'
import { count } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { nameList } from '../../selector.ts'
import { manifestInput, planManifests } from './diff.ts'
import { type ManifestOptions, PLAN, type Plan, printPlan, withManifests } from './plan.ts'

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
    .option('--wait', 'wait until the created and changed nodes are READY')
    .option('--timeout <seconds>', 'how long --wait waits', integer, 600)
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

const STATES = graphql(`query AppliedNodes($filter: NodeFilter, $first: Int, $after: String) {
  nodes(filter: $filter, first: $first, after: $after) { edges { node { name status } } pageInfo { hasNextPage endCursor } }
}`)

async function waitForNodes({ changes }: Plan, timeout: number): Promise<void> {
  const hostlist = changes.filter(({ kind, action }) => kind === 'ComputeNode' && action !== 'DELETE').map(({ names }) => names)
  if (hostlist.length === 0) return
  const filter = { hostlist: hostlist.join(',') }
  let waiting = -1
  for (const end = Date.now() + timeout * 1000; ; await sleep(2000)) {
    const nodes = await fetchAll(async (page) => (await request(STATES, { filter, ...page })).nodes)
    const missing = nodes.filter(({ status }) => status !== 'READY').map(({ name }) => name)
    if (missing.length === 0) return void process.stderr.write(`${count(nodes.length, 'node')} READY.\n`)
    if (missing.length !== waiting)
      process.stderr.write(`Waiting for ${missing.length} of ${count(nodes.length, 'node')} to be READY …\n`)
    waiting = missing.length
    if (Date.now() > end)
      throw new CliError(`After ${timeout} seconds not READY: ${nameList(missing)}. Test them with \`muster node test\`.`)
  }
}

import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { type ManifestOptions, PLAN, type Plan, printPlan, withManifests } from './plan.ts'
import { readManifests } from './read-manifests.ts'

const PLAN_MANIFESTS = graphql(
  `query PlanManifests($input: PlanManifestsInput!) {
    planManifests(input: $input) { __typename ...Plan ... on Error { code message } ... on InvalidInputError { issues { path message } } }
  }`,
  [PLAN],
)

/** The input of the API for the options of a command. */
export const manifestInput = async ({ file, owner, prune, forceConflicts }: ManifestOptions) => ({
  files: await readManifests(file),
  ...(owner ? { owner } : {}),
  ...(prune ? { prune } : {}),
  ...(forceConflicts ? { forceConflicts } : {}),
})

export async function planManifests(input: Awaited<ReturnType<typeof manifestInput>>): Promise<Plan> {
  return orThrow((await request(PLAN_MANIFESTS, { input })).planManifests)
}

export const diff = () =>
  withManifests(new Command('diff').description('show what applying manifests would change'))
    .option('--exit-code', 'exit with 1 when something would change')
    .action(async (options: ManifestOptions & { exitCode?: true }) => {
      const plan = await planManifests(await manifestInput(options))
      await printPlan(plan, options)
      if (options.exitCode && plan.changeCount > 0) process.exitCode ||= EXIT.failed
    })

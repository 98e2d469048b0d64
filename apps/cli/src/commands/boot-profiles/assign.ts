import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { groupId } from '../../lookup.ts'
import { commaList, wholeNumber } from '../../options.ts'
import { count } from '../../output.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'
import { readProfile } from './read.ts'

type Options = { groups?: string[]; allNodes?: true; unknownMachines?: true; priority?: number }

const withTargets = (command: Command): Command =>
  command
    .argument('<profile>')
    .argument('[selector]', SELECTOR_HELP)
    .option('--groups <names>', 'comma-separated groups: their nodes, also those that are added later', commaList)
    .option('--all-nodes', 'the default of all nodes')
    .option('--unknown-machines', 'machines with a MAC that no node has')

/** Input of both mutations, and the targets in words. */
async function targets(name: string, selector: string | undefined, { groups = [], allNodes, unknownMachines }: Options) {
  if (selector === undefined && groups.length === 0 && !allNodes && !unknownMachines)
    throw new CliError('Name nodes, --groups, --all-nodes or --unknown-machines.', EXIT.usage)
  const nodes = selector === undefined ? [] : await selectNodes(selector)
  const input = {
    nodeIds: nodes.map(({ id }) => id),
    groupIds: await Promise.all(groups.map(groupId)),
    allNodes: allNodes ?? false,
    unknownMachines: unknownMachines ?? false,
    profileId: (await readProfile(name)).id,
  }
  const words = [
    ...(nodes.length > 0 ? [count(nodes.length, 'node')] : []),
    ...(groups.length > 0 ? [count(groups.length, 'group')] : []),
    ...(allNodes ? ['all nodes'] : []),
    ...(unknownMachines ? ['unknown machines'] : []),
  ]
  return { input, words: words.join(', ') }
}

export const bootProfileAssign = () =>
  withTargets(new Command('assign').description('make nodes, groups, all nodes or unknown machines boot a profile'))
    .option('--priority <n>', 'among assignments with the same kind of target, the lower number wins; default 100', wholeNumber)
    .action(async (name: string, selector: string | undefined, options: Options) => {
      const { input, words } = await targets(name, selector, options)
      const { assignBootProfile } = await request(
        graphql(`mutation BootProfileAssign($input: AssignBootProfileInput!) {
          assignBootProfile(input: $input) {
            __typename ... on AssignBootProfilePayload { bootProfile { resolved { problems } } }
            ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input: { ...input, priority: options.priority ?? null } },
      )
      const { problems } = orThrow(assignBootProfile).bootProfile.resolved
      const lines = [`Assigned ${name} to ${words}. \`muster node boot-profile\` shows what nodes boot.`, ...problems, '']
      process.stderr.write(lines.join('\n'))
    })

export const bootProfileUnassign = () =>
  withTargets(new Command('unassign').description('remove assignments of a boot profile')).action(
    async (name: string, selector: string | undefined, options: Options) => {
      const { input, words } = await targets(name, selector, options)
      const { unassignBootProfile } = await request(
        graphql(`mutation BootProfileUnassign($input: UnassignBootProfileInput!) {
          unassignBootProfile(input: $input) {
            __typename ... on UnassignBootProfilePayload { bootProfile { name } }
            ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input },
      )
      orThrow(unassignBootProfile)
      process.stderr.write(`Unassigned ${name} from ${words}.\n`)
    },
  )

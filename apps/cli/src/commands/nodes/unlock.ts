import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { SELECTOR_HELP, selectNodes } from '../../selector.ts'

export const nodeUnlock = () =>
  new Command('unlock')
    .description('release the run locks of nodes when a run hangs; the run itself continues')
    .argument('<selector>', SELECTOR_HELP)
    .requiredOption('--reason <text>', 'reason, kept in the audit log')
    .action(async (selector: string, { reason }: { reason: string }) => {
      const { releaseNodeLocks } = await request(
        graphql(`mutation Unlock($nodeIds: [ID!]!, $reason: String!) {
          releaseNodeLocks(input: { nodeIds: $nodeIds, reason: $reason }) {
            __typename ... on ReleaseNodeLocksPayload { nodes { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { nodeIds: (await selectNodes(selector)).map((node) => node.id), reason },
      )
      process.stderr.write(
        `Released: ${orThrow(releaseNodeLocks)
          .nodes.map((node) => node.name)
          .join(', ')}\n`,
      )
    })

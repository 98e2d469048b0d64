import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { ago, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'

const LIST = graphql(`query AgentTokenList($includeEnded: Boolean, $first: Int, $after: String) {
  agentEnrollmentTokens(includeEnded: $includeEnded, first: $first, after: $after) {
    edges { node {
      id prefix state note node { name } createdAt createdBy { name } expiresAt usedAt usedFrom usedByNode { name } revokedAt revokedBy { name }
    } }
    pageInfo { hasNextPage endCursor }
  }
}`)

/** Enrollment tokens, newest first. @param includeEnded include used, expired and revoked tokens */
export const enrollmentTokens = (includeEnded: boolean) =>
  fetchAll(async (page) => (await request(LIST, { includeEnded, ...page })).agentEnrollmentTokens)

export const agentTokenList = () =>
  new Command('list')
    .description('list enrollment tokens')
    .option('--all', 'include used, expired and revoked tokens')
    .withOutput()
    .action(async ({ all, ...output }: Output & { all?: true }) => {
      printRows(
        await enrollmentTokens(all ?? false),
        [
          { title: 'TOKEN', value: (token) => token.prefix },
          { title: 'STATE', value: (token) => token.state },
          { title: 'FOR', value: (token) => token.node?.name ?? 'any node' },
          { title: 'CREATED', value: (token) => ago(token.createdAt) },
          { title: 'BY', value: (token) => token.createdBy.name },
          { title: 'EXPIRES', value: (token) => token.expiresAt },
          { title: 'USED BY', value: (token) => token.usedByNode?.name ?? token.usedFrom },
          { title: 'NOTE', value: (token) => token.note, wide: true },
        ],
        output,
        all ? 'No enrollment tokens.' : 'No usable enrollment tokens. Create one with `muster agent token create`.',
      )
    })

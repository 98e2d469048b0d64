import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { ago, type Format, outputOption, printRows } from '../../output.ts'
import { rowsOf } from '../../pages.ts'

const LIST = graphql(`query AgentTokenList($isOver: Boolean, $first: Int, $after: String) {
  agentEnrolmentTokens(isOver: $isOver, first: $first, after: $after) {
    edges { node {
      id prefix state note node { name } createdAt createdByName expiresAt usedAt usedFrom usedByNode { name } revokedAt revokedByName
    } }
    pageInfo { hasNextPage endCursor }
  }
}`)

/** Enrolment tokens, the newest first; with `isOver` those too with which nobody can register any more. */
export const enrolmentTokens = (isOver: boolean) =>
  rowsOf(async (page) => (await request(LIST, { isOver, ...page })).agentEnrolmentTokens)

export const agentTokenList = () =>
  new Command('list')
    .description('tokens with which agents may register; the tokens themselves are shown only when they are made')
    .option('--all', 'those that are used, expired or revoked as well')
    .addOption(outputOption())
    .action(async ({ all, output }: { all?: true; output: Format }) => {
      printRows(
        await enrolmentTokens(all ?? false),
        [
          { title: 'TOKEN', value: (token) => token.prefix },
          { title: 'STATE', value: (token) => token.state },
          { title: 'FOR', value: (token) => token.node?.name ?? 'any node' },
          { title: 'MADE', value: (token) => ago(token.createdAt) },
          { title: 'BY', value: (token) => token.createdByName },
          { title: 'UNTIL', value: (token) => token.expiresAt },
          { title: 'USED BY', value: (token) => token.usedByNode?.name ?? token.usedFrom },
          { title: 'NOTE', value: (token) => token.note, spare: true },
        ],
        output,
        all ? 'No token was ever made.' : 'No token waits for an agent. `muster agent token create` makes one.',
      )
    })

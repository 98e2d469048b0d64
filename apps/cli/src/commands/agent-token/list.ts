import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { ago, type Format, outputOption, printRows } from '../../output.ts'

const LIST = graphql(`query AgentTokenList($isOver: Boolean, $after: String) {
  agentEnrolmentTokens(isOver: $isOver, first: 500, after: $after) {
    edges { node {
      id prefix state note node { name } createdAt createdByName expiresAt usedAt usedFrom usedByNode { name } revokedAt revokedByName
    } }
    pageInfo { hasNextPage endCursor }
  }
}`)
type Page = ResultOf<typeof LIST>['agentEnrolmentTokens']
type Token = Page['edges'][number]['node']

/** Enrolment tokens, the newest first; with `isOver` those too with which nobody can register any more. */
export async function enrolmentTokens(isOver: boolean): Promise<Token[]> {
  const found: Token[] = []
  let after: string | null = null
  do {
    const page: Page = (await request(LIST, { isOver, after })).agentEnrolmentTokens
    found.push(...page.edges.map((edge) => edge.node))
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
  } while (after)
  return found
}

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

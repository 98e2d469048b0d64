import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { ago, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'

const LIST = graphql(`query TokenList($first: Int, $after: String) {
  apiTokens(first: $first, after: $after) {
    edges { node { id name prefix role createdAt expiresAt lastUsedAt lastUsedAddress networks permissions isLimitedToGroups nodeGroups { name } owner { name } revokedAt } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const apiTokens = () => fetchAll(async (page) => (await request(LIST, page)).apiTokens)

export const tokenList = () =>
  new Command('list')
    .description('list API tokens')
    .option('--all', 'include revoked and expired tokens')
    .withOutput()
    .action(async ({ all, ...output }: Output & { all?: true }) => {
      const isUsable = (token: { revokedAt: string | null; expiresAt: string }) =>
        !token.revokedAt && Date.parse(token.expiresAt) >= Date.now()
      printRows(
        (await apiTokens()).filter((token) => all || isUsable(token)),
        [
          { title: 'TOKEN', value: (token) => token.prefix },
          { title: 'NAME', value: (token) => token.name },
          { title: 'ROLE', value: (token) => token.role },
          { title: 'STATE', value: (token) => (token.revokedAt ? 'revoked' : isUsable(token) ? 'valid' : 'expired') },
          { title: 'EXPIRES', value: (token) => token.expiresAt },
          { title: 'OWNER', value: (token) => token.owner.name, wide: true },
          { title: 'PERMISSIONS', value: (token) => token.permissions?.join(',') ?? 'all of the role', wide: true },
          {
            title: 'GROUPS',
            value: (token) =>
              token.isLimitedToGroups ? token.nodeGroups.map(({ name }) => name).join(',') || 'none left' : 'all nodes',
            wide: true,
          },
          { title: 'NETWORKS', value: (token) => token.networks.join(',') || 'all', wide: true },
          { title: 'LAST USED', value: (token) => ago(token.lastUsedAt), wide: true },
          { title: 'FROM', value: (token) => token.lastUsedAddress ?? '', wide: true },
          { title: 'CREATED', value: (token) => ago(token.createdAt), wide: true },
        ],
        output,
        'No API tokens. Create one with `muster token create NAME`.',
      )
    })

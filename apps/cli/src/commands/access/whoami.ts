import { INVALID_TOKEN, request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { NotSignedIn } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { printObject } from '../../output.ts'

export const whoami = () =>
  new Command('whoami').withOutput().action(async (output: Output) => {
    const { viewer } = await request(
      graphql(`query Whoami {
        viewer {
          kind name user { email } role isInstallationAdmin tenant { name }
          apiToken { owner { name } expiresAt permissions isLimitedToGroups nodeGroups { name } networks }
        }
      }`),
      {},
    )
    if (!viewer) throw new NotSignedIn(INVALID_TOKEN)
    const { user, tenant, apiToken, ...rest } = viewer
    const token = apiToken && {
      owner: apiToken.owner.name,
      expiresAt: apiToken.expiresAt,
      permissions: apiToken.permissions ?? 'all of the role',
      nodeGroups: apiToken.isLimitedToGroups ? apiToken.nodeGroups.map(({ name }) => name) : 'all nodes',
      networks: apiToken.networks.length > 0 ? apiToken.networks : 'all',
    }
    printObject({ ...rest, email: user?.email ?? null, tenant: tenant.name, ...(token ? { token } : {}) }, output)
  })

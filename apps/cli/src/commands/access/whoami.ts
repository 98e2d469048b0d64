import { INVALID_TOKEN, request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { NotSignedIn } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { printObject } from '../../output.ts'

export const whoami = () =>
  new Command('whoami').withOutput().action(async (output: Output) => {
    const { viewer } = await request(graphql(`query Whoami { viewer { kind name user { email } role tenant { name } } }`), {})
    if (!viewer) throw new NotSignedIn(INVALID_TOKEN)
    const { user, tenant, ...rest } = viewer
    printObject({ ...rest, email: user?.email ?? null, tenant: tenant.name }, output)
  })

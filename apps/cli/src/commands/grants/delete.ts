import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { confirmAction, YES_HELP } from '../../confirm.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { count } from '../../output.ts'
import { findMember } from '../access/members/find-member.ts'
import { allGrants } from './list.ts'

type Options = { group?: string; cluster?: string; role?: string; yes?: true }

export const grantDelete = () =>
  new Command('delete')
    .description('remove grants for a group or a Slurm cluster from a member; runs already started continue')
    .argument('<member>', 'email address, or name of a service account')
    .option('--group <name>', 'group of the grants')
    .option('--cluster <name>', 'Slurm cluster of the grants, instead of a group')
    .option('--role <role>', 'only grants of this role (default: of every role)')
    .option('-y, --yes', YES_HELP)
    .action(async (name: string, { group, cluster, role, yes }: Options) => {
      if ((group === undefined) === (cluster === undefined)) throw new CliError('Give either --group or --cluster.', EXIT.usage)
      const what = group ?? `the cluster ${cluster}`
      const { user } = await findMember(name)
      const found = (await allGrants()).filter(
        (grant) =>
          grant.member.user.email === user.email &&
          (group === undefined ? grant.slurmCluster?.name === cluster : grant.nodeGroup?.name === group) &&
          (!role || grant.role === role.toLowerCase()),
      )
      if (found.length === 0)
        throw new CliError(`${name} has no such grant for ${what}. See \`muster grant list\`.`, EXIT.notFound)
      const roles = [...new Set(found.map((grant) => grant.role))].join(', ')
      await confirmAction(`Delete ${roles} of ${name} for ${what}.`, yes)
      for (const { id } of found) {
        const { deleteGrant } = await request(
          graphql(`mutation GrantDelete($id: ID!) {
            deleteGrant(input: { id: $id }) { __typename ... on Error { code message } }
          }`),
          { id },
        )
        orThrow(deleteGrant)
      }
      process.stderr.write(`Deleted ${count(found.length, 'grant')} of ${name} for ${what}.\n`)
    })

import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { credentialId, groupId } from '../../lookup.ts'
import { commaList } from '../../options.ts'
import { findMember } from '../access/members/find-member.ts'
import { clusterId } from '../clusters/find-cluster.ts'
import { findTemplate } from '../templates/fields.ts'
import { scopeOf } from './list.ts'

type Options = {
  role: string
  group?: string
  template?: string[]
  credential?: string[]
  cluster?: string
  partition?: string[]
}

export const grantCreate = () =>
  new Command('create')
    .description('give a member the permissions of a role for the nodes of a group, or for a Slurm cluster')
    .argument('<member>', 'email address, or name of a service account')
    .option('--group <name>', 'group with the nodes')
    .option('--role <role>', 'name of a built-in or custom role, at most your own', 'operator')
    .option('--template <names>', 'job templates that the member may run there; repeatable (default: all)', commaList)
    .option(
      '--credential <names>',
      'credentials with which the member may connect, including bastions; repeatable (default: all)',
      commaList,
    )
    .option('--cluster <name>', 'the Slurm cluster, instead of a group')
    .option('--partition <names>', 'only these partitions of it; repeatable (default: the whole cluster)', commaList)
    .action(async (name: string, { role, group, template, credential, cluster, partition }: Options) => {
      if ((group === undefined) === (cluster === undefined)) throw new CliError('Give either --group or --cluster.', EXIT.usage)
      const { createGrant } = await request(
        graphql(`mutation GrantCreate($input: CreateGrantInput!) {
          createGrant(input: $input) {
            __typename ... on CreateGrantPayload { grant { role nodeGroup { name } slurmCluster { name } partitions } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        {
          input: {
            memberId: (await findMember(name)).id,
            role,
            ...(group === undefined ? {} : { nodeGroupId: await groupId(group) }),
            ...(cluster === undefined ? {} : { slurmClusterId: await clusterId(cluster) }),
            ...(partition ? { partitions: partition } : {}),
            ...(template
              ? { jobTemplateIds: await Promise.all(template.map(async (each) => (await findTemplate(each)).id)) }
              : {}),
            ...(credential ? { credentialIds: await Promise.all(credential.map(credentialId)) } : {}),
          },
        },
      )
      const { grant } = orThrow(createGrant)
      process.stderr.write(`Granted the role ${grant.role} to ${name} for ${scopeOf(grant)}.\n`)
    })

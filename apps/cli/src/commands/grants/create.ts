import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { credentialId, groupId } from '../../lookup.ts'
import { commaList } from '../../options.ts'
import { findMember } from '../access/members/find-member.ts'
import { findTemplate } from '../templates/fields.ts'

type Options = { role: string; group: string; template?: string[]; credential?: string[] }

export const grantCreate = () =>
  new Command('create')
    .description('give a member the permissions of a role that concern nodes, for the nodes of a group')
    .argument('<member>', 'email address, or name of a service account')
    .requiredOption('--group <name>', 'group with the nodes')
    .option('--role <role>', 'name of a built-in or custom role, at most your own', 'operator')
    .option('--template <names>', 'job templates that the member may run there; repeatable (default: all)', commaList)
    .option(
      '--credential <names>',
      'credentials with which the member may connect, including bastions; repeatable (default: all)',
      commaList,
    )
    .action(async (name: string, { role, group, template, credential }: Options) => {
      const { createGrant } = await request(
        graphql(`mutation GrantCreate($input: CreateGrantInput!) {
          createGrant(input: $input) {
            __typename ... on CreateGrantPayload { grant { role nodeGroup { name } } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        {
          input: {
            memberId: (await findMember(name)).id,
            role,
            nodeGroupId: await groupId(group),
            ...(template
              ? { jobTemplateIds: await Promise.all(template.map(async (each) => (await findTemplate(each)).id)) }
              : {}),
            ...(credential ? { credentialIds: await Promise.all(credential.map(credentialId)) } : {}),
          },
        },
      )
      const { grant } = orThrow(createGrant)
      process.stderr.write(`${name} is ${grant.role} of the nodes of ${grant.nodeGroup.name}.\n`)
    })

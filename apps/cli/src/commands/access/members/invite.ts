import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { integer } from '../../../options.ts'
import { roleOption } from './role.ts'

export const memberInvite = () =>
  new Command('invite')
    .description('invite a person by email; without a mail server the secret link is printed once, on standard output')
    .argument('<email>', 'email address of the person')
    .addOption(roleOption().default('viewer'))
    .option('--days <n>', 'days until the link stops working, at most 30 (default: 7)', integer)
    .action(async (email: string, { role, days }: { role: string; days?: number }) => {
      const { inviteMember } = await request(
        graphql(`mutation MemberInvite($input: InviteMemberInput!) {
          inviteMember(input: $input) {
            __typename
            ... on InviteMemberPayload { link deliveryProblem invitation { email expiresAt } }
            ... on Error { code message }
            ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input: { email, role, ...(days ? { expiresInSeconds: days * 86_400 } : {}) } },
      )
      const { link, deliveryProblem, invitation } = orThrow(inviteMember)
      if (deliveryProblem) process.stderr.write(`${deliveryProblem}\n`)
      if (link) process.stdout.write(`${link}\n`)
      process.stderr.write(
        link
          ? `Send this link to ${invitation.email}. It works once, until ${invitation.expiresAt}, and is not shown again.\n`
          : `Sent an invitation to ${invitation.email}. It is valid until ${invitation.expiresAt}.\n`,
      )
    })

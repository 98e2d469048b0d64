import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { ago, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'

const INVITATIONS = graphql(`query InvitationList($first: Int, $after: String) {
  invitations(first: $first, after: $after) {
    edges { node { id email role createdAt expiresAt acceptedAt revokedAt createdBy { name } } }
    pageInfo { hasNextPage endCursor }
  }
}`)

type Invitation = { acceptedAt: string | null; revokedAt: string | null; expiresAt: string }

const allInvitations = () => fetchAll(async (page) => (await request(INVITATIONS, page)).invitations)

function stateOf({ acceptedAt, revokedAt, expiresAt }: Invitation): 'accepted' | 'revoked' | 'expired' | 'open' {
  if (acceptedAt) return 'accepted'
  if (revokedAt) return 'revoked'
  return Date.parse(expiresAt) < Date.now() ? 'expired' : 'open'
}

export const memberInvitations = () =>
  new Command('invitations')
    .description('list open invitations')
    .option('--all', 'include accepted, revoked and expired invitations')
    .withOutput()
    .action(async ({ all, ...output }: Output & { all?: true }) => {
      printRows(
        (await allInvitations()).filter((invitation) => all || stateOf(invitation) === 'open'),
        [
          { title: 'EMAIL', value: ({ email }) => email },
          { title: 'ROLE', value: ({ role }) => role },
          { title: 'STATE', value: stateOf },
          { title: 'EXPIRES', value: ({ expiresAt }) => expiresAt },
          { title: 'INVITED BY', value: ({ createdBy }) => createdBy.name, wide: true },
          { title: 'CREATED', value: ({ createdAt }) => ago(createdAt), wide: true },
        ],
        output,
        'No open invitations. Invite a person with `muster member invite EMAIL`.',
      )
    })

export const memberUninvite = () =>
  new Command('uninvite')
    .description('revoke an open invitation')
    .argument('<email>', 'invited email address')
    .action(async (email: string) => {
      const found = (await allInvitations()).find(
        (invitation) => invitation.email === email.toLowerCase() && !invitation.acceptedAt && !invitation.revokedAt,
      )
      if (!found) throw new CliError(`No open invitation for ${email}. See \`muster member invitations\`.`, EXIT.notFound)
      const { revokeInvitation } = await request(
        graphql(`mutation MemberUninvite($id: ID!) {
          revokeInvitation(input: { id: $id }) { __typename ... on RevokeInvitationPayload { invitation { email } } ... on Error { code message } }
        }`),
        { id: found.id },
      )
      process.stderr.write(`Revoked the invitation for ${orThrow(revokeInvitation).invitation.email}.\n`)
    })

import {
  changeMemberRole,
  createServiceAccount,
  invitationAudit,
  inviteMember,
  memberAudit,
  removeMember,
  resumeMember,
  revokeInvitation,
  suspendMember,
  transferOwnership,
} from '@muster/core/access'
import { Conflict, Forbidden, InvalidInput, NotFound, Unauthenticated, Unavailable } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { eq } from 'drizzle-orm'
import type { ApiContext } from '../../context.ts'
import { invitationMail, secretLink } from '../../mail/mails.ts'
import { globalId, rowId } from '../shared/ids.ts'
import { deletedPayload, type InputFields, mutation } from '../shared/mutation.ts'
import { Invitation, Member } from './people.ts'
import { Viewer } from './types.ts'

const { tenants } = schema

const idOfMember = (t: InputFields) => ({ id: t.id({ required: true, description: 'ID of the member.' }) })
const memberPayload = (description: string) => ({ member: { type: Member, description } })

type InvitedMember = Awaited<ReturnType<typeof inviteMember>>
type Delivery = { link: string | null; deliveryProblem: string | null }

/** Sends the link of an invitation. Returns the link when the installation has no mail server or sending fails. */
async function deliver({ ctx, deps }: ApiContext, { token, invitation }: InvitedMember): Promise<Delivery> {
  const link = secretLink(deps.publicUrl, '/invitation', token)
  if (!deps.mailer) return { link, deliveryProblem: null }
  const [tenant] = await ctx.db.select({ name: tenants.name }).from(tenants).where(eq(tenants.id, invitation.tenantId))
  const { email, expiresAt } = invitation
  const mail = invitationMail({ email, expiresAt, link, tenantName: tenant!.name, inviter: ctx.actor.name })
  try {
    await deps.mailer.send(mail)
    return { link: null, deliveryProblem: null }
  } catch (error) {
    if (!(error instanceof Unavailable)) throw error
    return { link, deliveryProblem: error.message }
  }
}

mutation('inviteMember', {
  action: invitationAudit.create,
  description:
    'Invites a person to the tenant by mail, or with a link that is shown once when the installation has no mail server. Replaces an open invitation of the address.',
  input: (t) => ({
    email: t.string({ required: true, description: 'Email address of the person.' }),
    role: t.string({
      required: true,
      description: 'Name of the role of the future member, at most with the permissions of the caller.',
    }),
    expiresInSeconds: t.int({ description: 'Seconds until the link stops working, 3600 to 2592000 (30 days). Default: 7 days.' }),
  }),
  idempotent: true,
  payload: {
    invitation: { type: Invitation, description: 'The invitation.' },
    link: {
      type: 'String',
      nullable: true,
      description: 'Secret link for the person. It is shown only here; null when it was sent by mail.',
    },
    deliveryProblem: {
      type: 'String',
      nullable: true,
      description: 'Why the mail could not be sent; null when it was sent, or when the installation has no mail server.',
    },
  },
  resolve: async (input, context) => {
    const invited = await inviteMember(context.ctx, input)
    return { invitation: invited.invitation, ...(await deliver(context, invited)) }
  },
})

mutation('acceptInvitation', {
  description:
    'Makes the holder of an invitation link a member and signs in. Without an account, name and password create one. With an account, the caller must be signed in or give its password.',
  authScopes: { public: true },
  input: (t) => ({
    token: t.string({ required: true, description: 'The token of the link, after `#token=`.' }),
    name: t.string({ description: 'Display name of the new user; not needed for an existing account.' }),
    password: t.string({
      description: 'Password of the existing account, or of the new user, 12 to 128 characters; not needed when signed in.',
    }),
  }),
  payload: {
    viewer: { type: Viewer, description: 'The signed-in user, in the tenant of the invitation.' },
    sessionToken: {
      type: 'String',
      description:
        'Session token for programs, sent as `Authorization: Bearer …`. It is a secret. Browsers also get it as a cookie.',
    },
  },
  errors: [Unauthenticated, Forbidden, NotFound, Conflict, InvalidInput, Unavailable],
  resolve: (input, context) => context.deps.auth.acceptInvitation(context, input),
})

mutation('revokeInvitation', {
  description: 'Revokes an invitation: its link no longer works.',
  input: (t) => ({ id: t.id({ required: true, description: 'ID of the invitation.' }) }),
  payload: { invitation: { type: Invitation, description: 'The revoked invitation.' } },
  errors: [NotFound, Conflict],
  resolve: async ({ id }, { ctx }) => ({ invitation: await revokeInvitation(ctx, { id: rowId('Invitation', id) }) }),
})

mutation('createServiceAccount', {
  action: memberAudit.add,
  description:
    'Creates a member for programs. It cannot sign in. Its API tokens stay valid when the member who created them is removed.',
  input: (t) => ({
    name: t.string({ required: true, description: 'Purpose of the account, at most 100 characters.' }),
    role: t.string({ required: true, description: 'Name of the role, at most with the permissions of the caller; not `owner`.' }),
  }),
  idempotent: true,
  payload: memberPayload('The service account.'),
  resolve: async (input, { ctx }) => ({ member: await createServiceAccount(ctx, input) }),
})

mutation('changeMemberRole', {
  action: memberAudit.changeRole,
  description: 'Changes the role of a member. Its sessions and API tokens have the new permissions with their next use.',
  input: (t) => ({
    ...idOfMember(t),
    role: t.string({ required: true, description: 'Name of the new role, at most with the permissions of the caller.' }),
  }),
  payload: memberPayload('The changed member.'),
  errors: [NotFound, Conflict],
  resolve: async ({ id, role }, { ctx, deps }) => {
    const member = await changeMemberRole(ctx, { id: rowId('Member', id), role })
    deps.auth.clearCallerCache()
    return { member }
  },
})

mutation('suspendMember', {
  description: 'Suspends a member: its sessions and API tokens have no access to the tenant until it is resumed.',
  input: idOfMember,
  payload: memberPayload('The suspended member.'),
  errors: [NotFound, Conflict],
  resolve: async ({ id }, { ctx, deps }) => {
    const member = await suspendMember(ctx, { id: rowId('Member', id) })
    deps.auth.clearCallerCache()
    return { member }
  },
})

mutation('resumeMember', {
  description: 'Gives a suspended member access again, with its role and its API tokens.',
  input: idOfMember,
  payload: memberPayload('The resumed member.'),
  errors: [NotFound, Conflict],
  resolve: async ({ id }, { ctx, deps }) => {
    const member = await resumeMember(ctx, { id: rowId('Member', id) })
    deps.auth.clearCallerCache()
    return { member }
  },
})

mutation('removeMember', {
  description:
    'Removes a member from the tenant and revokes its API tokens and the tokens that these created. The last active owner stays. A service account is deleted.',
  input: idOfMember,
  payload: deletedPayload,
  errors: [NotFound, Conflict],
  resolve: async ({ id }, { ctx, deps }) => {
    const removed = await removeMember(ctx, { id: rowId('Member', id) })
    deps.auth.clearCallerCache()
    return { deletedId: globalId('Member', removed.id) }
  },
})

mutation('transferOwnership', {
  action: memberAudit.transferOwnership,
  description: 'Makes another member the owner of the tenant; the caller becomes an admin.',
  input: idOfMember,
  payload: memberPayload('The new owner.'),
  errors: [NotFound, Conflict],
  resolve: async ({ id }, { ctx, deps }) => {
    const member = await transferOwnership(ctx, { id: rowId('Member', id) })
    deps.auth.clearCallerCache()
    return { member }
  },
})

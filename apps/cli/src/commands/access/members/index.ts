import { commandGroup } from '../../../command.ts'
import { memberAccept } from './accept.ts'
import { memberRemove, memberResume, memberRole, memberSuspend, memberTransfer } from './change.ts'
import { memberInvitations, memberUninvite } from './invitations.ts'
import { memberInvite } from './invite.ts'
import { memberList } from './list.ts'
import { memberAddServiceAccount } from './service-account.ts'

export const member = () =>
  commandGroup('member', [
    memberList(),
    memberInvite(),
    memberAccept(),
    memberInvitations(),
    memberUninvite(),
    memberRole(),
    memberSuspend(),
    memberResume(),
    memberRemove(),
    memberTransfer(),
    memberAddServiceAccount(),
  ])

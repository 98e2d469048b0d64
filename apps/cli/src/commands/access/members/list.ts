import { Command, type Output } from '../../../command.ts'
import { ago, printRows } from '../../../output.ts'
import { allMembers } from './find-member.ts'

export const memberList = () =>
  new Command('list')
    .description('list members and service accounts')
    .withOutput()
    .action(async (output: Output) => {
      printRows(
        await allMembers(),
        [
          { title: 'MEMBER', value: ({ user }) => (user.isServiceAccount ? user.name : user.email) },
          { title: 'NAME', value: ({ user }) => user.name },
          { title: 'ROLE', value: ({ role }) => role },
          { title: 'STATE', value: ({ suspendedAt }) => (suspendedAt ? 'suspended' : 'active') },
          { title: 'KIND', value: ({ user }) => (user.isServiceAccount ? 'service account' : 'user'), wide: true },
          { title: 'SINCE', value: ({ createdAt }) => ago(createdAt), wide: true },
        ],
        output,
        'No members.',
      )
    })

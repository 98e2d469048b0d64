import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { confirmAction, YES_HELP } from '../../../confirm.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { findMember } from './find-member.ts'

const MEMBER = ['<member>', 'email address, or name of a service account'] as const

export const memberRole = () =>
  new Command('role')
    .description('change the role of a member')
    .argument(...MEMBER)
    .argument('<role>', 'name of a built-in or custom role (see `muster role list`), at most your own role')
    .action(async (name: string, role: string) => {
      const { id } = await findMember(name)
      const { changeMemberRole } = await request(
        graphql(`mutation MemberRole($input: ChangeMemberRoleInput!) {
          changeMemberRole(input: $input) { __typename ... on ChangeMemberRolePayload { member { role } } ... on Error { code message } }
        }`),
        { input: { id, role } },
      )
      process.stderr.write(`${name} is now ${orThrow(changeMemberRole).member.role}.\n`)
    })

export const memberSuspend = () =>
  new Command('suspend')
    .description('suspend a member: sessions and tokens have no access until `muster member resume`')
    .argument(...MEMBER)
    .action(async (name: string) => {
      const { id } = await findMember(name)
      const { suspendMember } = await request(
        graphql(`mutation MemberSuspend($id: ID!) {
          suspendMember(input: { id: $id }) { __typename ... on Error { code message } }
        }`),
        { id },
      )
      orThrow(suspendMember)
      process.stderr.write(`Suspended ${name}.\n`)
    })

export const memberResume = () =>
  new Command('resume')
    .description('give a suspended member access again')
    .argument(...MEMBER)
    .action(async (name: string) => {
      const { id } = await findMember(name)
      const { resumeMember } = await request(
        graphql(`mutation MemberResume($id: ID!) {
          resumeMember(input: { id: $id }) { __typename ... on Error { code message } }
        }`),
        { id },
      )
      orThrow(resumeMember)
      process.stderr.write(`Resumed ${name}.\n`)
    })

export const memberRemove = () =>
  new Command('remove')
    .alias('rm')
    .description('remove a member and revoke its tokens; a service account is deleted')
    .argument(...MEMBER)
    .option('-y, --yes', YES_HELP)
    .action(async (name: string, { yes }: { yes?: true }) => {
      const { id } = await findMember(name)
      await confirmAction(`Remove ${name} and revoke the member's tokens.`, yes)
      const { removeMember } = await request(
        graphql(`mutation MemberRemove($id: ID!) {
          removeMember(input: { id: $id }) { __typename ... on Error { code message } }
        }`),
        { id },
      )
      orThrow(removeMember)
      process.stderr.write(`Removed ${name}.\n`)
    })

export const memberTransfer = () =>
  new Command('transfer-ownership')
    .description('make another member the owner; you become an admin')
    .argument(...MEMBER)
    .option('-y, --yes', YES_HELP)
    .action(async (name: string, { yes }: { yes?: true }) => {
      const { id } = await findMember(name)
      await confirmAction(`Make ${name} the owner. You become an admin.`, yes)
      const { transferOwnership } = await request(
        graphql(`mutation MemberTransfer($id: ID!) {
          transferOwnership(input: { id: $id }) { __typename ... on Error { code message } }
        }`),
        { id },
      )
      orThrow(transferOwnership)
      process.stderr.write(`${name} is now the owner.\n`)
    })

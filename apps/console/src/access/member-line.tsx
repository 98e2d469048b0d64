'use client'
import { MoreHorizontal } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Menu, MenuItem } from '@/ui/menu.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import {
  ChangeMemberRole,
  type Member,
  RemoveMember,
  ResumeMember,
  SuspendMember,
  TransferOwnership,
} from './member-documents.ts'
import { type Role, roleLabel } from './roles.ts'

type Action = 'suspend' | 'remove' | 'transfer'

/** One member with its actions. */
export function MemberLine({
  member,
  roles,
  onChanged,
  onProblem,
}: {
  member: Member
  roles: Role[]
  onChanged: () => void
  onProblem: (message: string | null) => void
}) {
  const [asking, setAsking] = useState<Action | null>(null)
  const change = useMutation(ChangeMemberRole)
  const resume = useMutation(ResumeMember)
  const run = { suspend: useMutation(SuspendMember), remove: useMutation(RemoveMember), transfer: useMutation(TransferOwnership) }
  const { id, role, user, suspendedAt, changeBlockedReason } = member
  const name = user.name
  async function finish(outcome: { ok: true } | { ok: false; problem: { message: string } }) {
    onProblem(outcome.ok ? null : outcome.problem.message)
    onChanged()
  }
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-4 py-3 text-sm last:border-0">
      <div className="min-w-0 flex-1 basis-56">
        <div className="flex flex-wrap items-center gap-2">
          <span className={suspendedAt ? 'text-muted' : 'font-medium'}>{name}</span>
          <Badge>{roleLabel(role)}</Badge>
          {user.isServiceAccount && <Badge tone="accent">{t('members.serviceAccount')}</Badge>}
          {suspendedAt && <Badge tone="warn">{t('members.suspended')}</Badge>}
        </div>
        {!user.isServiceAccount && <p className="truncate text-xs text-muted">{user.email}</p>}
        {!user.isServiceAccount && member.signInMethods && <SignInSummary member={member} />}
      </div>
      <span className="mr-auto text-xs text-muted">
        {t.rich('members.since', { time: () => <RelativeTime at={member.createdAt} /> })}
      </span>
      <Menu label={t('members.actions', { name })} icon={<MoreHorizontal aria-hidden />} iconOnly quiet align="end">
        {roles
          .filter((each) => each.name !== role)
          .map((each) => (
            <MenuItem
              key={each.name}
              blockedReason={changeBlockedReason ?? each.grantBlockedReason}
              onClick={() => void change.run({ input: { id, role: each.name } }).then(finish)}
            >
              {t('members.makeRole', { role: roleLabel(each.name) })}
            </MenuItem>
          ))}
        <MenuItem blockedReason={member.transferBlockedReason} onClick={() => setAsking('transfer')}>
          {t('members.transfer')}
        </MenuItem>
        {suspendedAt ? (
          <MenuItem blockedReason={changeBlockedReason} onClick={() => void resume.run({ id }).then(finish)}>
            {t('members.resume')}
          </MenuItem>
        ) : (
          <MenuItem danger blockedReason={changeBlockedReason} onClick={() => setAsking('suspend')}>
            {t('members.suspend')}
          </MenuItem>
        )}
        <MenuItem danger blockedReason={changeBlockedReason} onClick={() => setAsking('remove')}>
          {t('members.remove')}
        </MenuItem>
      </Menu>
      {asking && (
        <Confirm
          title={t(`members.${asking}Title`, { name })}
          action={t(`members.${asking}`)}
          onClose={() => setAsking(null)}
          onConfirm={async () => {
            const outcome = await run[asking].run({ id })
            onChanged()
            return outcome
          }}
        >
          <p>{t(`members.${asking}Text`)}</p>
        </Confirm>
      )}
    </li>
  )
}

/** How the member signs in; only administrators see it. */
function SignInSummary({ member: { signInMethods, hasSecondFactor } }: { member: Member }) {
  const kinds = signInMethods?.map(({ kind }) => t(`signInMethods.kind.${kind}`)) ?? []
  if (hasSecondFactor) kinds.push(t('members.secondFactor'))
  return (
    <p className="text-xs text-muted">
      {kinds.length > 0 ? t('members.signsInWith', { methods: kinds.join(', ') }) : t('members.cannotSignIn')}
    </p>
  )
}

'use client'
import { Bot, UserPlus } from 'lucide-react'
import { useState } from 'react'
import { InviteDialog } from '@/access/invite-dialog.tsx'
import { type Invitation, InvitationsQuery, MembersQuery, RevokeInvitation } from '@/access/member-documents.ts'
import { MemberLine } from '@/access/member-line.tsx'
import { roleLabel, useRoles } from '@/access/roles.ts'
import { ServiceAccountDialog } from '@/access/service-account-dialog.tsx'
import { TokenLine, TokenList } from '@/access/token-list.tsx'
import { useViewer } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead } from '@/ui/page.tsx'
import { useNow } from '@/ui/relative-time.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'

function InvitationItem({ invitation, onRevoke }: { invitation: Invitation; onRevoke: () => void }) {
  return (
    <TokenLine onRevoke={onRevoke}>
      <div className="flex min-w-0 flex-1 basis-56 flex-wrap items-center gap-2">
        <span className="truncate">{invitation.email}</span>
        <Badge>{roleLabel(invitation.role)}</Badge>
      </div>
      <span className="text-xs text-muted">{t('tokens.until', { when: formatDateTime(invitation.expiresAt) })}</span>
    </TokenLine>
  )
}

/** Open invitations, only for those who may invite. */
function Invitations({ list }: { list: ReturnType<typeof useInvitations> }) {
  const now = useNow()
  const isOpen = (each: Invitation) => !each.acceptedAt && !each.revokedAt && new Date(each.expiresAt).getTime() > now
  const open = { ...list, rows: list.rows.filter(isOpen) }
  return (
    <section className="mt-8">
      <h2 className="mb-2 text-sm font-semibold">{t('members.invitations')}</h2>
      <TokenList
        list={open}
        row={(invitation, onRevoke) => <InvitationItem key={invitation.id} invitation={invitation} onRevoke={onRevoke} />}
        nameOf={({ email }) => email}
        revoke={RevokeInvitation}
        revokeText={t('members.revokeText')}
        loadFailed={t('members.invitationsFailed')}
        empty={<p className="text-sm text-muted">{t('members.noInvitations')}</p>}
      />
    </section>
  )
}

const useInvitations = () => useConnection('invitations', InvitationsQuery, {}, (data) => data.invitations)

function ManagedMembers() {
  const invitations = useInvitations()
  const list = useMembers()
  const [open, setOpen] = useState<'invite' | 'serviceAccount' | null>(null)
  const close = () => setOpen(null)
  return (
    <>
      <PageHead title={t('members.title')} below={<p className="text-sm text-muted">{t('members.lead')}</p>}>
        <Button variant="primary" icon={<UserPlus aria-hidden />} onClick={() => setOpen('invite')}>
          {t('members.invite')}
        </Button>
        <Button icon={<Bot aria-hidden />} onClick={() => setOpen('serviceAccount')}>
          {t('serviceAccounts.new')}
        </Button>
      </PageHead>
      <MemberList list={list} />
      <Invitations list={invitations} />
      {open === 'invite' && <InviteDialog onClose={close} onInvited={() => void invitations.reload()} />}
      {open === 'serviceAccount' && <ServiceAccountDialog onClose={close} onCreated={() => void list.reload()} />}
    </>
  )
}

const useMembers = () => useConnection('members', MembersQuery, {}, (data) => data.members)

function MemberList({ list }: { list: ReturnType<typeof useMembers> }) {
  const roles = useRoles()
  const [problem, setProblem] = useState<string | null>(null)
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('members.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
  if (list.isLoading)
    return (
      <div className="rounded-lg border border-line bg-panel">
        <SkeletonRows rows={3} height={60} />
      </div>
    )
  return (
    <>
      {problem && <Notice tone="bad">{problem}</Notice>}
      <ul className="rounded-lg border border-line bg-panel">
        {list.rows.map((member) => (
          <MemberLine key={member.id} member={member} roles={roles} onChanged={() => void list.reload()} onProblem={setProblem} />
        ))}
      </ul>
      {list.hasMore && (
        <div className="flex justify-center pt-4">
          <Button onClick={list.more}>{t('common.loadMore')}</Button>
        </div>
      )}
    </>
  )
}

/** The members, for those who may not change them. */
function ReadOnlyMembers({ blockedReason }: { blockedReason: string }) {
  const list = useMembers()
  return (
    <>
      <PageHead title={t('members.title')} below={<p className="text-sm text-muted">{blockedReason}</p>} />
      <MemberList list={list} />
    </>
  )
}

/** Members of the tenant. */
export default function MembersPage() {
  useTitle(t('members.title'))
  const { inviteBlockedReason } = useViewer()
  return inviteBlockedReason === null ? <ManagedMembers /> : <ReadOnlyMembers blockedReason={inviteBlockedReason} />
}

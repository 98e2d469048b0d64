'use client'
import { Pencil, ScrollText, Trash2 } from 'lucide-react'
import Link from 'next/link'
import { useParams, useRouter } from 'next/navigation'
import { useState } from 'react'
import { useQuery } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { DeleteGroup, type Group, GroupQuery } from '@/groups/documents.ts'
import { GroupDialog } from '@/groups/group-dialog.tsx'
import { MembersPanel } from '@/groups/members-panel.tsx'
import { Properties } from '@/groups/properties.tsx'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'

/** Confirms a deletion and lists what it also removes. If that is anything, the name must be typed. */
function DeleteDialog({ group, onClose }: { group: Group; onClose: () => void }) {
  const router = useRouter()
  const remove = useMutation(DeleteGroup)
  const { id, name, nodeCount, bootAssignments, vars, grantCount } = group
  const effects = [
    bootAssignments.totalCount > 0 && t('group.deleteBoot', { count: bootAssignments.totalCount }),
    vars && vars.vars.length > 0 && t('group.deleteVars', { count: vars.vars.length }),
    grantCount > 0 && t('group.deleteGrants', { count: grantCount }),
  ].filter((effect) => effect !== false && effect !== null)
  async function run() {
    const outcome = await remove.run({ input: { id } })
    if (outcome.ok) {
      toast('ok', t('group.deleted', { name }))
      router.replace('/groups')
    }
    return outcome
  }
  return (
    <Confirm
      title={t('group.deleteTitle', { name })}
      action={t('group.delete')}
      onConfirm={run}
      onClose={onClose}
      {...(effects.length > 0 ? { confirmText: name } : {})}
    >
      <p>{t('group.deleteText', { count: nodeCount })}</p>
      {effects.length > 0 && (
        <ul className="list-disc pl-5">
          {effects.map((effect) => (
            <li key={effect}>{effect}</li>
          ))}
        </ul>
      )}
    </Confirm>
  )
}

function Loaded({ group, reload }: { group: Group; reload: () => void }) {
  const { id, name, kind, description, isSystem, updateBlockedReason, deleteBlockedReason } = group
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null)
  const auditBlocked = useBlockedReason('audit:read')
  return (
    <>
      <PageHead
        above={
          <Link href="/groups" className="hover:underline">
            {t('nav.groups')}
          </Link>
        }
        title={
          <>
            <span className="truncate font-mono">{name}</span>
            <Badge>{t(`groupKind.${kind}`)}</Badge>
            {isSystem && <Badge tone="accent">{t('group.systemBadge')}</Badge>}
          </>
        }
        below={description && <p className="max-w-3xl text-sm whitespace-pre-line text-muted">{description}</p>}
      >
        {auditBlocked === null && (
          <ButtonLink href={`/settings/audit?object=${encodeURIComponent(id)}`} icon={<ScrollText aria-hidden />}>
            {t('nav.audit')}
          </ButtonLink>
        )}
        <Button icon={<Pencil aria-hidden />} blockedReason={updateBlockedReason} onClick={() => setDialog('edit')}>
          {t('group.edit')}
        </Button>
        <Button
          variant="danger"
          icon={<Trash2 aria-hidden />}
          blockedReason={deleteBlockedReason}
          onClick={() => setDialog('delete')}
        >
          {t('group.delete')}
        </Button>
      </PageHead>
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
        <Properties group={group} />
        <MembersPanel key={group.memberQuery} group={group} onChanged={reload} />
      </div>
      {dialog === 'edit' && <GroupDialog group={group} onClose={() => setDialog(null)} onDone={reload} />}
      {dialog === 'delete' && <DeleteDialog group={group} onClose={() => setDialog(null)} />}
    </>
  )
}

/** The page of a node group. */
export default function GroupPage() {
  const id = decodeURIComponent(String(useParams().id))
  const [{ data, error }, refetch] = useQuery({ query: GroupQuery, variables: { id }, requestPolicy: 'cache-and-network' })
  const reload = () => refetch({ requestPolicy: 'network-only' })
  const group = data?.node?.__typename === 'NodeGroup' ? data.node : null
  useTitle(group?.name ?? t('nav.groups'))
  if (group) return <Loaded key={group.id} group={group} reload={reload} />
  if (error) return <Failure title={t('group.loadFailed')} message={toProblem(error).message} onRetry={reload} />
  if (data) return <Empty title={t('group.notFound')} action={<ButtonLink href="/groups">{t('nav.groups')}</ButtonLink>} />
  return (
    <div className="flex flex-col gap-4">
      <Skeleton className="h-7 w-56" />
      <Skeleton className="h-96 w-full" />
    </div>
  )
}

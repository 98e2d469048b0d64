'use client'
import { Plus, UserRoundCheck } from 'lucide-react'
import { useState } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatList } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { PageHead } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { roleLabel } from '../roles.ts'
import { useBlockedReason } from '../viewer.tsx'
import { GrantDialog } from './grant-dialog.tsx'
import { DeleteGrant, type Grant, GrantsQuery } from './grant-documents.ts'

/** Names of the objects that a grant is limited to; null: all. An empty list remains after the objects were deleted. */
function limitText(objects: { name: string; displayName?: string | null }[] | null): string {
  if (!objects) return t('grants.all')
  if (objects.length === 0) return t('grants.noneLeft')
  return formatList(objects.map(({ name, displayName }) => displayName ?? name))
}

/** What a grant is for, as a short text. */
function scopeText({ nodeGroup, slurmCluster, partitions }: Grant): string {
  if (nodeGroup) return t('grants.groupNodes', { group: nodeGroup.name, count: nodeGroup.nodeCount })
  const cluster = slurmCluster?.name ?? ''
  return partitions ? t('grants.clusterPartitions', { cluster, partitions: formatList(partitions) }) : cluster
}

function GrantItem({ grant, onDelete }: { grant: Grant; onDelete: () => void }) {
  const { member, nodeGroup, role } = grant
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 border-b border-line px-4 py-3 text-sm last:border-0">
      <div className="flex min-w-0 flex-1 basis-56 flex-col gap-1">
        <div className="flex flex-wrap items-center gap-2">
          <span className="font-medium">{member.user.name}</span>
          <Badge>{roleLabel(role)}</Badge>
        </div>
        <dl className="grid grid-cols-[auto_1fr] gap-x-3 gap-y-0.5 text-xs">
          <dt className="text-muted">{t(nodeGroup ? 'grants.nodeGroup' : 'grants.cluster')}</dt>
          <dd className="min-w-0 break-words">{scopeText(grant)}</dd>
          {nodeGroup && (
            <>
              <dt className="text-muted">{t('grants.templates')}</dt>
              <dd className="min-w-0 break-words">{limitText(grant.jobTemplates)}</dd>
              <dt className="text-muted">{t('grants.credentials')}</dt>
              <dd className="min-w-0 break-words">{limitText(grant.credentials)}</dd>
            </>
          )}
        </dl>
      </div>
      <span className="text-xs text-muted">
        {t.rich('grants.created', { name: grant.createdBy.name, time: () => <RelativeTime at={grant.createdAt} /> })}
      </span>
      <Button variant="danger" blockedReason={grant.deleteBlockedReason} onClick={onDelete}>
        {t('grants.delete')}
      </Button>
    </li>
  )
}

/** Grants of all members; creates and deletes them. */
export function GrantList() {
  const list = useConnection('grants', GrantsQuery, {}, (data) => data.grants)
  const remove = useMutation(DeleteGrant)
  const blocked = useBlockedReason('member:write')
  const [isCreating, setCreating] = useState(false)
  const [deleting, setDeleting] = useState<Grant | null>(null)
  const reload = () => void list.reload()
  const add = (
    <Button variant="primary" icon={<Plus aria-hidden />} blockedReason={blocked} onClick={() => setCreating(true)}>
      {t('grants.new')}
    </Button>
  )
  return (
    <>
      <PageHead title={t('grants.title')} below={<p className="text-sm text-muted">{t('grants.lead')}</p>}>
        {list.rows.length > 0 && add}
      </PageHead>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('grants.loadFailed')} message={list.problem.message} onRetry={reload} />
      ) : !list.isLoading && list.rows.length === 0 ? (
        <Empty icon={<UserRoundCheck aria-hidden />} title={t('grants.emptyTitle')} action={add}>
          <p>{t('grants.emptyText')}</p>
        </Empty>
      ) : (
        <ul className="rounded-lg border border-line bg-panel">
          {list.isLoading ? (
            <SkeletonRows rows={3} height={104} />
          ) : (
            list.rows.map((grant) => <GrantItem key={grant.id} grant={grant} onDelete={() => setDeleting(grant)} />)
          )}
        </ul>
      )}
      {list.hasMore && (
        <div className="flex justify-center pt-4">
          <Button onClick={list.more}>{t('common.loadMore')}</Button>
        </div>
      )}
      {isCreating && <GrantDialog onClose={() => setCreating(false)} onSaved={reload} />}
      {deleting && (
        <Confirm
          title={t('grants.deleteTitle', { name: deleting.member.user.name })}
          action={t('grants.delete')}
          onClose={() => setDeleting(null)}
          onConfirm={async () => {
            const outcome = await remove.run({ id: deleting.id })
            // Also after a failure: the grant may have been deleted meanwhile.
            reload()
            return outcome
          }}
        >
          <p>
            {t('grants.deleteText', {
              name: deleting.member.user.name,
              role: roleLabel(deleting.role),
              scope: scopeText(deleting),
            })}
          </p>
        </Confirm>
      )}
    </>
  )
}

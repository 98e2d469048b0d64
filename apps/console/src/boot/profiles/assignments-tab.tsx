'use client'
import { Link2, Plus, Trash2 } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { groupHref } from '@/groups/documents.ts'
import { t } from '@/messages/index.ts'
import { nodeHref } from '@/nodes/node-line.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'
import { AssignDialog } from './assign-dialog.tsx'
import { type AssignmentRow, AssignmentsQuery, type Profile, UnassignProfile } from './documents.ts'
import { targetText } from './values.tsx'

const NONE = { edges: [], pageInfo: { hasNextPage: false, endCursor: null } }
const textOf = ({ target, node, group }: AssignmentRow) => targetText({ target, name: node?.name ?? group?.name ?? null })

/** What a profile is assigned to. */
export function AssignmentsTab({ profile, onChanged }: { profile: Profile; onChanged: () => void }) {
  const { id, name, assignBlockedReason } = profile
  const list = useConnection('boot-assignments', AssignmentsQuery, { name }, (data) => data.bootProfile?.assignments ?? NONE)
  const unassign = useMutation(UnassignProfile)
  const [isAssigning, setIsAssigning] = useState(false)
  const [removing, setRemoving] = useState<AssignmentRow | null>(null)
  const changed = () => {
    void list.reload()
    onChanged()
  }
  async function remove({ target, node, group }: AssignmentRow) {
    const outcome = await unassign.run({
      input: {
        profileId: id,
        nodeIds: node ? [node.id] : [],
        groupIds: group ? [group.id] : [],
        allNodes: target === 'ALL_NODES',
        unknownMachines: target === 'UNKNOWN_MACHINES',
      },
    })
    if (outcome.ok) {
      toast('ok', t('bootProfile.unassigned', { name }))
      changed()
    }
    return outcome
  }
  const add = (
    <Button
      variant="primary"
      icon={<Plus aria-hidden />}
      blockedReason={assignBlockedReason}
      onClick={() => setIsAssigning(true)}
    >
      {t('bootProfile.assign')}
    </Button>
  )
  const body = () => {
    if (list.problem && list.rows.length === 0)
      return <Failure title={t('bootProfile.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
    if (list.isLoading) return <Skeleton className="h-48 w-full" />
    if (list.rows.length === 0)
      return (
        <Empty icon={<Link2 aria-hidden />} title={t('bootProfile.noAssignments')} action={add}>
          <p>{t('bootProfile.noAssignmentsText')}</p>
        </Empty>
      )
    return (
      <>
        <div className="flex justify-end pb-3">{add}</div>
        <ul className="rounded-lg border border-line bg-panel text-sm" aria-label={t('bootProfile.assignments')}>
          {list.rows.map((row) => (
            <li key={row.id} className="flex flex-wrap items-center gap-x-4 gap-y-1 border-line px-4 py-2 not-first:border-t">
              <span className="min-w-0 flex-1 basis-48 font-medium wrap-anywhere">
                {row.node || row.group ? (
                  <Link href={row.node ? nodeHref(row.node.id) : groupHref(row.group!.id)} className="hover:underline">
                    {textOf(row)}
                  </Link>
                ) : (
                  textOf(row)
                )}
              </span>
              <span className="text-muted">{t('bootProfile.priorityOf', { priority: String(row.priority) })}</span>
              <span className="order-last w-full text-xs text-muted sm:order-none sm:w-auto">
                {row.createdBy.name} · <RelativeTime at={row.createdAt} />
              </span>
              <Button
                variant="quiet"
                icon={<Trash2 aria-hidden />}
                label={t('bootProfile.unassignLabel', { target: textOf(row) })}
                blockedReason={assignBlockedReason}
                onClick={() => setRemoving(row)}
              />
            </li>
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
  return (
    <>
      {body()}
      {isAssigning && <AssignDialog profile={profile} onClose={() => setIsAssigning(false)} onDone={changed} />}
      {removing && (
        <Confirm
          title={t('bootProfile.unassignTitle', { name, target: textOf(removing) })}
          action={t('bootProfile.unassign')}
          onConfirm={() => remove(removing)}
          onClose={() => setRemoving(null)}
        >
          <p>{t('bootProfile.unassignText')}</p>
        </Confirm>
      )}
    </>
  )
}

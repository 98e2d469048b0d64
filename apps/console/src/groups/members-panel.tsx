'use client'
import { Minus, Plus, Server, X } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { NodeStatus } from '@/nodes/badges.tsx'
import { nodeHref } from '@/nodes/node-line.tsx'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { Panel } from '@/ui/page.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'
import { VirtualList } from '@/ui/virtual-list.tsx'
import { type Group, type MemberRow, MembersQuery, SetMembers } from './documents.ts'
import { messageOf } from './group-dialog.tsx'
import { MembersDialog } from './members-dialog.tsx'

const NONE = { edges: [], pageInfo: { hasNextPage: false, endCursor: null } }

/** The nodes of a group and its child groups. Members of a list can be added and removed. */
export function MembersPanel({ group, onChanged }: { group: Group; onChanged: () => void }) {
  const { id, name, nodeCount, memberQuery, setMembersBlockedReason: blockedReason } = group
  const list = useConnection('group-members', MembersQuery, { id }, ({ node }) =>
    node?.__typename === 'NodeGroup' ? node.nodes : NONE,
  )
  const set = useMutation(SetMembers)
  const [changing, setChanging] = useState<'add' | 'remove' | null>(null)
  const changed = () => {
    void list.reload()
    onChanged()
  }
  async function remove(node: MemberRow) {
    const outcome = await set.run({ input: { id, removeNodeIds: [node.id] } })
    if (!outcome.ok) return toast('bad', messageOf(outcome.problem))
    const isStill = outcome.value.nodeGroup.nodeCount === (list.total ?? nodeCount)
    if (isStill) toast('bad', t('group.throughChild', { node: node.name, name }))
    else toast('ok', t('group.removed', { node: node.name, name }))
    changed()
  }
  const add = (
    <Button icon={<Plus aria-hidden />} blockedReason={blockedReason} onClick={() => setChanging('add')}>
      {t('group.add')}
    </Button>
  )
  const body = () => {
    if (list.problem && list.rows.length === 0)
      return <Failure title={t('group.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
    if (list.isLoading) return <SkeletonRows rows={4} height={40} />
    if (list.rows.length === 0)
      return (
        <div className="p-4">
          <Empty icon={<Server aria-hidden />} title={t('group.noMembers')} action={memberQuery === null && add}>
            <p>{t(memberQuery === null ? 'group.noMembersText' : 'group.noMatchText')}</p>
          </Empty>
        </div>
      )
    return (
      <VirtualList
        label={t('group.members')}
        rows={list.rows}
        rowHeight={40}
        onNearEnd={list.more}
        hasMore={list.hasMore}
        renderRow={(node) => (
          <div className="flex h-full items-center gap-3 border-b border-line px-4 text-sm">
            <span className="flex min-w-0 flex-1 items-baseline gap-2">
              <Link href={nodeHref(node.id)} className="truncate font-mono font-medium hover:underline">
                {node.name}
              </Link>
              {node.displayName && <span className="truncate text-xs text-muted">{node.displayName}</span>}
            </span>
            <NodeStatus node={node} />
            {memberQuery === null && (
              <Button
                variant="quiet"
                icon={<X aria-hidden />}
                label={t('group.removeLabel', { node: node.name })}
                blockedReason={blockedReason}
                onClick={() => void remove(node)}
              />
            )}
          </div>
        )}
      />
    )
  }
  return (
    <Panel
      flush
      title={t('group.memberCount', { count: formatNumber(list.total ?? nodeCount) })}
      actions={
        memberQuery === null &&
        list.rows.length > 0 && (
          <div className="flex gap-2">
            {add}
            <Button icon={<Minus aria-hidden />} blockedReason={blockedReason} onClick={() => setChanging('remove')}>
              {t('group.remove')}
            </Button>
          </div>
        )
      }
    >
      {body()}
      {changing && <MembersDialog group={group} change={changing} onClose={() => setChanging(null)} onDone={changed} />}
    </Panel>
  )
}

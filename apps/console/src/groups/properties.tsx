'use client'
import Link from 'next/link'
import type { ReactNode } from 'react'
import { useQuery } from 'urql'
import { profileHref } from '@/boot/profiles/documents.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { Panel, PropertyList } from '@/ui/page.tsx'
import { type Group, GroupNamesQuery, groupHref } from './documents.ts'

type Named = { id: string; name: string }

/** Links, and how many more there are. */
function Links({ items, total, href }: { items: readonly Named[]; total: number; href: (item: Named) => string }) {
  if (items.length === 0) return t('common.none')
  return (
    <span className="flex flex-wrap gap-x-3 gap-y-1">
      {items.map((item) => (
        <Link key={item.id} href={href(item)} className="font-mono wrap-anywhere hover:underline">
          {item.name}
        </Link>
      ))}
      {total > items.length && (
        <span className="text-muted">{t('group.andMore', { count: formatNumber(total - items.length) })}</span>
      )}
    </span>
  )
}

const hrefOf = ({ id }: Named) => groupHref(id)

/** The other groups of the set: a node of this group is in none of them. */
function SetValue({ group: { id, exclusiveSet } }: { group: Group }) {
  const [{ data }] = useQuery({
    query: GroupNamesQuery,
    variables: { filter: { exclusiveSet } },
    pause: exclusiveSet === null,
    requestPolicy: 'cache-and-network',
  })
  if (exclusiveSet === null) return t('common.none')
  const others = (data?.nodeGroups.edges ?? []).map(({ node }) => node).filter((each) => each.id !== id)
  return (
    <div className="flex flex-col gap-1">
      <span className="font-medium wrap-anywhere">{exclusiveSet}</span>
      {data &&
        (others.length > 0 ? (
          <>
            <span className="text-xs text-muted">{t('group.setOthers')}</span>
            <Links items={others} total={data.nodeGroups.totalCount - 1} href={hrefOf} />
          </>
        ) : (
          <span className="text-xs text-muted">{t('group.setAlone')}</span>
        ))}
    </div>
  )
}

/** Properties of a group, its parent and children, and what applies to its nodes. */
export function Properties({ group }: { group: Group }) {
  const { kind, priority, displayName, memberQuery, parent, children, vars, bootAssignments, grantCount } = group
  const profiles = bootAssignments.edges.map(({ node: { profile } }) => profile)
  const rows: [string, ReactNode][] = [
    [t('group.kind'), t(`groupKind.${kind}`)],
    ...(displayName ? [[t('group.displayName'), displayName] as [string, ReactNode]] : []),
    [t('group.priority'), formatNumber(priority)],
    [
      t('group.membership'),
      memberQuery === null ? (
        t('group.byList')
      ) : (
        <code key="q" className="text-xs wrap-anywhere">
          {memberQuery}
        </code>
      ),
    ],
    [t('group.set'), <SetValue key="s" group={group} />],
    [t('group.parent'), <Links key="p" items={parent ? [parent] : []} total={1} href={hrefOf} />],
    [
      t('group.children'),
      <Links key="c" items={children.edges.map(({ node }) => node)} total={children.totalCount} href={hrefOf} />,
    ],
    [
      t('group.bootProfiles'),
      <Links key="b" items={profiles} total={bootAssignments.totalCount} href={({ name }) => profileHref(name)} />,
    ],
    [t('group.variables'), vars ? vars.vars.map(({ name }) => name).join(', ') || t('common.none') : t('common.none')],
    [t('group.grants'), formatNumber(grantCount)],
  ]
  return (
    <Panel title={t('group.properties')}>
      <PropertyList rows={rows} />
    </Panel>
  )
}

'use client'
import clsx from 'clsx'
import { FileSearch } from 'lucide-react'
import { useState } from 'react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { JsonTree } from '@/ui/json-tree.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { NodeFactsQuery } from './node-documents.ts'

/** The facts of a node as a tree, and the raw output of the discovery. */
export function FactsTab({ id, action }: { id: string; action: React.ReactNode }) {
  const [{ data, error }, retry] = useQuery({ query: NodeFactsQuery, variables: { id }, requestPolicy: 'cache-and-network' })
  const [search, setSearch] = useState('')
  const [isRaw, setRaw] = useState(false)
  const node = data?.node?.__typename === 'ComputeNode' ? data.node : null
  if (error && !node)
    return (
      <Failure title={t('facts.loadFailed')} message={error.message} onRetry={() => retry({ requestPolicy: 'network-only' })} />
    )
  if (!node) return <Skeleton className="h-96 w-full" />
  const evidence = node.latestDiscovery?.evidence ?? null
  if (!node.facts && !evidence) {
    return (
      <Empty icon={<FileSearch aria-hidden />} title={t('facts.emptyTitle')} action={action}>
        <p>{t('facts.emptyText')}</p>
      </Empty>
    )
  }
  const text = isRaw ? (evidence ?? '') : JSON.stringify(node.facts, null, 2)
  return (
    <div className="rounded-lg border border-line bg-panel">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-2 py-1.5">
        <fieldset className="flex gap-0.5 rounded-md bg-sunken p-0.5" aria-label={t('facts.view')}>
          {[false, true].map((raw) => (
            <button
              key={String(raw)}
              type="button"
              aria-pressed={raw === isRaw}
              onClick={() => setRaw(raw)}
              className={clsx('h-7 rounded px-3 text-sm', raw === isRaw ? 'bg-panel font-medium' : 'text-muted')}
            >
              {raw ? t('facts.raw') : t('facts.tree')}
            </button>
          ))}
        </fieldset>
        {!isRaw && (
          <input
            data-search
            type="search"
            aria-label={t('facts.search')}
            placeholder={t('facts.search')}
            value={search}
            onChange={(event) => setSearch(event.target.value)}
            className="h-8 min-w-0 flex-1 basis-40 rounded-md border border-line-strong bg-panel px-2.5 text-sm placeholder:text-faint md:max-w-xs"
          />
        )}
        <span className="ml-auto">
          <CopyButton text={text} />
        </span>
      </div>
      <div className="max-h-[calc(100dvh-320px)] min-h-64 overflow-auto p-4">
        {isRaw ? (
          <pre className="font-mono text-xs leading-5 break-all whitespace-pre-wrap">{evidence ?? t('facts.noEvidence')}</pre>
        ) : (
          <JsonTree value={node.facts} search={search} />
        )}
      </div>
    </div>
  )
}

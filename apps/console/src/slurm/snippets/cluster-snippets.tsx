'use client'
import { useState } from 'react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Panel } from '@/ui/page.tsx'
import { useReloadOn } from '../use-reload-on.ts'
import { ApplyDialog } from './apply-dialog.tsx'
import { ClusterSnippetsQuery } from './documents.ts'
import { SnippetState } from './snippet-state.tsx'

type Props = {
  cluster: { id: string; name: string }
  /** Changes when the states of the snippets may have changed. */
  versions: string
  blockedReason: string | null
  onChanged: () => void
}

/** What the configuration of a cluster has of its snippets; nothing when it has none. */
export function ClusterSnippets({ cluster, versions, blockedReason, onChanged }: Props) {
  const [isOpen, setOpen] = useState(false)
  const [{ data }, refetch] = useQuery({
    query: ClusterSnippetsQuery,
    variables: { id: cluster.id },
    requestPolicy: 'cache-and-network',
  })
  useReloadOn(versions, () => refetch({ requestPolicy: 'network-only' }))
  const snippets = data?.slurmCluster?.configSnippets ?? []
  if (snippets.length === 0) return null
  return (
    <Panel
      title={t('slurmSnippet.title')}
      flush
      actions={
        <div className="flex gap-2">
          {snippets.some(({ state }) => state === 'NOT_APPLIED') && (
            <Button blockedReason={blockedReason} onClick={() => setOpen(true)}>
              {t('slurmSnippet.apply')}
            </Button>
          )}
          <ButtonLink href="/slurm/snippets">{t('slurmSnippet.all')}</ButtonLink>
        </div>
      }
    >
      <ul aria-label={t('slurmSnippet.title')}>
        {snippets.map(({ name, state, message }) => (
          <li
            key={name}
            className="flex flex-wrap items-baseline gap-x-4 gap-y-0.5 border-b border-line px-4 py-2 text-sm last:border-0"
          >
            <span className="min-w-32 font-mono text-xs font-medium wrap-anywhere">{name}</span>
            <SnippetState state={state} />
            {message && <span className="min-w-0 flex-1 basis-56 text-xs text-muted">{message}</span>}
          </li>
        ))}
      </ul>
      {isOpen && (
        <ApplyDialog
          clusters={[cluster]}
          onClose={() => setOpen(false)}
          onDone={() => {
            refetch({ requestPolicy: 'network-only' })
            onChanged()
          }}
        />
      )}
    </Panel>
  )
}

'use client'
import { useState } from 'react'
import { useQuery } from 'urql'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { toast } from '@/ui/toast.tsx'
import { useReloadOn } from '../use-reload-on.ts'
import { ApplySnippets, ClusterSnippetsQuery } from './documents.ts'
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
          {snippets.some(({ state }) => state === 'DIFFERS') && (
            <Button blockedReason={blockedReason} onClick={() => setOpen(true)}>
              {t('slurmSnippet.apply')}
            </Button>
          )}
          <ButtonLink href="/slurm/snippets">{t('slurmSnippet.all')}</ButtonLink>
        </div>
      }
    >
      <ul aria-label={t('slurmSnippet.title')}>
        {snippets.map(({ snippet, state, message }) => (
          <li
            key={snippet.id}
            className="flex flex-wrap items-baseline gap-x-4 gap-y-0.5 border-b border-line px-4 py-2 text-sm last:border-0"
          >
            <span className="min-w-32 font-mono text-xs font-medium wrap-anywhere">{snippet.name}</span>
            <SnippetState state={state} />
            {message && <span className="min-w-0 flex-1 basis-56 text-xs text-muted">{message}</span>}
          </li>
        ))}
      </ul>
      {isOpen && (
        <ApplyDialog
          cluster={cluster}
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

type DialogProps = { cluster: Props['cluster']; onClose: () => void; onDone: () => void }

function ApplyDialog({ cluster, onClose, onDone }: DialogProps) {
  const apply = useMutation(ApplySnippets)
  const [reason, setReason] = useState('')
  async function run() {
    const outcome = await apply.run({ input: { clusterId: cluster.id, reason: reason.trim() } })
    if (!outcome.ok) return
    toast('ok', t('slurmConfig.saved', { number: String(outcome.value.slurmConfigVersion.number) }))
    onDone()
    onClose()
  }
  return (
    <Dialog
      title={t('slurmSnippet.applyTitle', { name: cluster.name })}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant="primary"
            busy={apply.busy}
            showReason
            blockedReason={reason.trim() ? null : t('slurmAction.needReason')}
            onClick={() => void run()}
          >
            {t('slurmSnippet.apply')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <p className="text-sm">{t('slurmSnippet.applyText')}</p>
        {apply.problem && apply.problem.issues.length === 0 && <Notice tone="bad">{apply.problem.message}</Notice>}
        <TextField
          label={t('slurmAction.reason')}
          maxLength={200}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          error={issueFor(apply.problem, 'reason')}
        />
      </div>
    </Dialog>
  )
}

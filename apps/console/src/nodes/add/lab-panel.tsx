'use client'
import { FlaskConical } from 'lucide-react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { formatAddress } from '@/nodes/badges.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'
import { ImportNodes, type LabOffer } from './documents.ts'

/** Offers lab nodes for adding; their credentials already exist. */
export function LabPanel({
  offer,
  onAdded,
  blockedReason,
}: {
  offer: LabOffer
  onAdded: (ids: string[]) => void
  blockedReason: string | null
}) {
  const mutation = useMutation(ImportNodes)
  const waiting = offer.nodes.filter((node) => !node.isAdded)
  if (waiting.length === 0) return null
  async function add() {
    const { format, text } = offer.nodeImport
    const outcome = await mutation.run({ input: { format, text } })
    if (!outcome.ok) return
    onAdded(outcome.value.report.rows.flatMap((row) => (row.node && row.state === 'ADDED' ? [row.node.id] : [])))
  }
  return (
    <section className="mb-5 rounded-lg border border-accent/40 bg-accent-soft p-4">
      <div className="flex flex-wrap items-start gap-3">
        <FlaskConical className="mt-0.5 size-5 text-accent" aria-hidden />
        <div className="min-w-0 flex-1 basis-64">
          <h2 className="text-base font-semibold">{t('lab.title', { count: waiting.length })}</h2>
          <p className="mt-0.5 text-sm text-muted">{t('lab.text')}</p>
          <ul className="mt-3 grid gap-x-6 gap-y-1 sm:grid-cols-2">
            {waiting.map((node) => (
              <li key={node.name} className="flex min-w-0 items-center gap-2 text-sm">
                <code className="font-mono text-xs font-medium">{node.name}</code>
                <code className="font-mono text-xs text-muted">{formatAddress(node.host, node.port)}</code>
                <span className="truncate text-xs text-muted">{node.profile}</span>
                {node.isBehindBastion && <Badge>{t('node.bastion')}</Badge>}
              </li>
            ))}
          </ul>
          {mutation.problem && (
            <div className="mt-3">
              <Notice tone="bad">{mutation.problem.message}</Notice>
            </div>
          )}
        </div>
        <Button
          variant="primary"
          showReason
          busy={mutation.busy}
          blockedReason={blockedReason ?? (offer.areCredentialsReady ? null : t('lab.notReady'))}
          onClick={() => void add()}
        >
          {t('lab.add', { count: waiting.length })}
        </Button>
      </div>
    </section>
  )
}

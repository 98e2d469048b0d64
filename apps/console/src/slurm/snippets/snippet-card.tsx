import { Pencil, Trash2 } from 'lucide-react'
import Link from 'next/link'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { clusterHref } from '../cluster-card.tsx'
import type { SnippetRow } from './documents.ts'
import { SnippetState } from './snippet-state.tsx'

type Props = { snippet: SnippetRow; blockedReason: string | null; onEdit: () => void; onDelete: () => void }

/** A snippet: its lines, and what each of its clusters has of it. */
export function SnippetCard({
  snippet: { name, version, updatedAt, files, regions, clusters, clusterCount },
  blockedReason,
  onEdit,
  onDelete,
}: Props) {
  return (
    <li className="flex flex-col gap-3 rounded-lg border border-line bg-panel p-4" data-testid="slurm-snippet">
      <div className="flex flex-wrap items-center gap-2">
        <h2 className="min-w-0 font-mono text-sm font-semibold wrap-anywhere">{name}</h2>
        <span className="mr-auto text-xs text-muted">
          {t('slurmConfig.version', { number: String(version) })} · <RelativeTime at={updatedAt} />
        </span>
        <div className="flex gap-2">
          <Button icon={<Pencil aria-hidden />} blockedReason={blockedReason} onClick={onEdit}>
            {t('slurm.edit')}
          </Button>
          <Button
            variant="danger"
            icon={<Trash2 aria-hidden />}
            label={t('slurmSnippet.deleteLabel', { name })}
            blockedReason={blockedReason}
            onClick={onDelete}
          />
        </div>
      </div>
      {files.map((file) => (
        <div key={file.name} className="flex flex-col gap-1">
          <h3 className="text-xs text-muted">{file.name}</h3>
          <pre
            className="max-h-48 overflow-auto rounded-md bg-sunken px-3 py-2 font-mono text-xs leading-5"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
            tabIndex={0}
          >
            {file.text}
          </pre>
        </div>
      ))}
      {regions.length > 0 && (
        <p className="text-sm wrap-anywhere">{t('slurmSnippet.inRegions', { names: regions.join(', ') })}</p>
      )}
      {clusters.length === 0 ? (
        <p className="text-sm text-muted">{t('slurmSnippet.noClusters')}</p>
      ) : (
        <ul className="flex flex-col text-sm" aria-label={t('slurmSnippet.clusters')}>
          {clusters.map(({ cluster, state, message }) => (
            <li key={cluster.id} className="flex flex-wrap items-baseline gap-x-4 gap-y-0.5 border-t border-line py-1.5">
              <Link
                href={`${clusterHref(cluster.id)}?tab=settings`}
                className="min-w-32 font-medium wrap-anywhere hover:underline"
              >
                {cluster.name}
              </Link>
              <SnippetState state={state} />
              {message && <span className="min-w-0 flex-1 basis-56 text-xs text-muted">{message}</span>}
            </li>
          ))}
        </ul>
      )}
      {clusterCount > clusters.length && (
        <p className="text-sm text-muted">{t('slurmAction.more', { count: clusterCount - clusters.length })}</p>
      )}
    </li>
  )
}

'use client'
import { Download } from 'lucide-react'
import { useState } from 'react'
import { useClient, useQuery } from 'urql'
import { formatBytes } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { isUnfinished } from '@/runs/badges.tsx'
import { ArtifactLink, ArtifactsQuery, type RunHead } from '@/runs/documents.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Failure } from '@/ui/failure.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'

function DownloadArtifact({ id, path, blockedReason }: { id: string; path: string; blockedReason: string | null }) {
  const client = useClient()
  const [busy, setBusy] = useState(false)
  async function download() {
    setBusy(true)
    const { data } = await client.query(ArtifactLink, { id }, { requestPolicy: 'network-only' }).toPromise()
    setBusy(false)
    const artifact = data?.node?.__typename === 'JobArtifact' ? data.node : null
    if (artifact?.downloadUrl) location.assign(artifact.downloadUrl)
    else toast('bad', artifact?.downloadBlockedReason ?? t('error.network'))
  }
  return (
    <Button
      variant="quiet"
      label={t('artifacts.download', { name: path })}
      icon={<Download aria-hidden />}
      busy={busy}
      blockedReason={blockedReason}
      onClick={() => void download()}
    />
  )
}

/** Artifacts of a run: its log and files from its artifact directory. */
export function Artifacts({ run }: { run: RunHead }) {
  const [{ data, error }, again] = useQuery({
    query: ArtifactsQuery,
    variables: { id: run.id },
    requestPolicy: 'cache-and-network',
    pause: isUnfinished(run.status),
  })
  const frame = 'rounded-lg border border-line bg-panel'
  if (isUnfinished(run.status)) return <p className={`${frame} p-6 text-center text-sm text-muted`}>{t('artifacts.notYet')}</p>
  if (error && !data)
    return (
      <Failure
        title={t('artifacts.loadFailed')}
        message={error.graphQLErrors[0]?.message ?? t('error.network')}
        onRetry={() => again({ requestPolicy: 'network-only' })}
      />
    )
  if (data?.node?.__typename !== 'JobRun')
    return (
      <div className={frame}>
        <SkeletonRows rows={2} height={44} />
      </div>
    )
  const { artifacts } = data.node
  if (artifacts.length === 0) return <p className={`${frame} p-6 text-center text-sm text-muted`}>{t('artifacts.none')}</p>
  return (
    <ul className={frame} aria-label={t('artifacts.list')}>
      {artifacts.map((artifact) => (
        <li key={artifact.id} className="flex items-center gap-3 border-b border-line px-4 py-1.5 text-sm last:border-0">
          <span className="flex min-w-0 flex-1 flex-col gap-0.5">
            <span className="flex items-center gap-2">
              <span className="truncate font-mono text-xs font-medium">{artifact.path}</span>
              {artifact.kind === 'LOG' && <Badge>{t('artifacts.log')}</Badge>}
            </span>
            <span className="truncate font-mono text-xs text-faint" title={artifact.sha256}>
              {t('artifacts.sha256', { sum: artifact.sha256.slice(0, 16) })}
            </span>
          </span>
          <span className="text-xs whitespace-nowrap text-muted tabular-nums">{formatBytes(artifact.sizeBytes)}</span>
          <span className="hidden text-xs text-muted sm:inline">
            <RelativeTime at={artifact.createdAt} />
          </span>
          <DownloadArtifact id={artifact.id} path={artifact.path} blockedReason={artifact.downloadBlockedReason} />
        </li>
      ))}
    </ul>
  )
}

'use client'
import { RefreshCw } from 'lucide-react'
import { useQuery } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { toProblem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { type SystemCheck, SystemChecksQuery } from '@/system/documents.ts'
import { EncryptionKey } from '@/system/encryption-key.tsx'
import { WorkerList } from '@/system/worker-list.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

const TONES = { OK: 'ok', WARNING: 'warn', ERROR: 'bad' } as const

function CheckItem({ item: { check, source, severity, message, nextStep } }: { item: SystemCheck }) {
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-1 px-4 py-3">
      <span className="w-20 shrink-0">
        <Badge tone={TONES[severity]}>{t(`system.severity.${severity}`)}</Badge>
      </span>
      <div className="w-44 shrink-0">
        <div className="text-sm font-medium">{t(`system.check.${check}`)}</div>
        <div className="font-mono text-xs break-all text-muted">{source}</div>
      </div>
      <div className="min-w-0 flex-1 basis-72 text-sm">
        <p className="break-words">{message}</p>
        {nextStep && <p className="mt-1 break-words text-muted">{t('system.nextStep', { step: nextStep })}</p>}
      </div>
    </li>
  )
}

/** The checks, workers and encryption key of the installation. */
export default function SystemPage() {
  useTitle(t('system.title'))
  const blockedReason = useBlockedReason('system:check')
  const [{ data, error, fetching, stale }, read] = useQuery({
    query: SystemChecksQuery,
    requestPolicy: 'network-only',
    pause: blockedReason !== null,
  })
  const again = () => read({ requestPolicy: 'network-only' })
  return (
    <>
      <PageHead title={t('system.title')} below={<p className="text-sm text-muted">{t('system.lead')}</p>}>
        <Button icon={<RefreshCw aria-hidden />} blockedReason={blockedReason} onClick={again} disabled={fetching || stale}>
          {t('system.again')}
        </Button>
      </PageHead>
      {blockedReason !== null ? (
        <Notice tone="info">{blockedReason}</Notice>
      ) : data ? (
        <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
          {data.systemChecks.map((item) => (
            <CheckItem key={`${item.check} ${item.source} ${item.message}`} item={item} />
          ))}
        </ul>
      ) : error ? (
        <Failure title={t('system.loadFailed')} message={toProblem(error).message} onRetry={again} />
      ) : (
        <Skeleton className="h-80 w-full" />
      )}
      <WorkerList />
      <EncryptionKey />
    </>
  )
}

import { useState } from 'react'
import { useQuery } from 'urql'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { formatList } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Failure } from '@/ui/failure.tsx'
import { Notice } from '@/ui/notice.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { CredentialKeyQuery, RotateCredentialKey } from './documents.ts'
import { usePolling } from './use-polling.ts'

/** The encryption key of secrets with the progress of its rotation. */
export function EncryptionKey() {
  const [{ data, error }, read] = useQuery({ query: CredentialKeyQuery, requestPolicy: 'cache-and-network' })
  const rotate = useMutation(RotateCredentialKey)
  const [isAsking, setAsking] = useState(false)
  const again = () => read({ requestPolicy: 'network-only' })
  const key = data?.credentialKey
  usePolling((key?.pendingCount ?? 0) > 0, again)
  return (
    <section aria-labelledby="encryption-key" className="flex flex-col gap-3 pt-8">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 id="encryption-key" className="text-base font-semibold">
          {t('encryptionKey.title')}
        </h2>
        {key && (
          <Button blockedReason={key.rotateBlockedReason} onClick={() => setAsking(true)}>
            {t('encryptionKey.rotate')}
          </Button>
        )}
      </div>
      {key ? (
        <div className="flex flex-col gap-2 rounded-lg border border-line bg-panel px-4 py-3 text-sm">
          <p className="font-medium">{t('encryptionKey.version', { version: String(key.version) })}</p>
          <div className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-muted">
            <span>{t.rich('encryptionKey.created', { time: () => <RelativeTime at={key.createdAt} /> })}</span>
            {key.pendingCount > 0 ? (
              <span role="status">{t('encryptionKey.pending', { count: key.pendingCount })}</span>
            ) : (
              <span role="status">{t('encryptionKey.done')}</span>
            )}
            {key.olderVersionsInUse.length > 0 && (
              <span>{t('encryptionKey.older', { versions: formatList(key.olderVersionsInUse.map(String)) })}</span>
            )}
          </div>
          {key.failedCount > 0 && (
            <Notice tone="bad">
              <p>{t('encryptionKey.failed', { count: key.failedCount })}</p>
              <ul>
                {key.failures.map(({ objectType, name, reason }) => (
                  <li key={`${objectType} ${name}`} className="break-words">
                    {t('encryptionKey.failure', { type: t(`encryptionKey.objectType.${objectType}`), name, reason })}
                  </li>
                ))}
              </ul>
            </Notice>
          )}
        </div>
      ) : error ? (
        <Failure title={t('encryptionKey.loadFailed')} message={toProblem(error).message} onRetry={again} />
      ) : (
        <Skeleton className="h-16 w-full" />
      )}
      {isAsking && (
        <Confirm
          title={t('encryptionKey.rotateTitle')}
          action={t('encryptionKey.rotate')}
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            const outcome = await rotate.run({})
            again()
            return outcome
          }}
        >
          <p>{t('encryptionKey.rotateText')}</p>
        </Confirm>
      )}
    </section>
  )
}

'use client'
import { useQuery } from 'urql'
import { graphql } from '@/graphql/graphql.ts'
import { toProblem } from '@/graphql/use-mutation.ts'
import { LedgerFragment } from '@/ledger/documents.ts'
import { LedgerForm } from '@/ledger/ledger-form.tsx'
import { LedgerState } from '@/ledger/ledger-state.tsx'
import { t } from '@/messages/index.ts'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

const LedgerQuery = graphql(`query Ledger { ledger { ...LedgerSettings } }`, [LedgerFragment])

/** The append-only log of node metadata: its settings, newest checkpoint and public keys. */
export default function LedgerPage() {
  useTitle(t('ledger.title'))
  const [{ data, error }, read] = useQuery({ query: LedgerQuery, requestPolicy: 'network-only' })
  return (
    <>
      <PageHead title={t('ledger.title')} below={<p className="max-w-3xl text-sm text-muted">{t('ledger.lead')}</p>} />
      {data ? (
        <div className="flex max-w-3xl flex-col gap-4">
          <LedgerState ledger={data.ledger} onChange={() => read({ requestPolicy: 'network-only' })} />
          <LedgerForm ledger={data.ledger} />
        </div>
      ) : error ? (
        <Failure
          title={t('ledger.loadFailed')}
          message={toProblem(error).message}
          onRetry={() => read({ requestPolicy: 'network-only' })}
        />
      ) : (
        <Skeleton className="h-64 w-full max-w-3xl" />
      )}
    </>
  )
}

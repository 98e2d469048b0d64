'use client'
import { useQuery } from 'urql'
import { RetentionForm, RetentionFragment } from '@/audit/retention-form.tsx'
import { graphql } from '@/graphql/graphql.ts'
import { toProblem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

const RetentionQuery = graphql(`query Retention { retention { ...RetentionForm } }`, [RetentionFragment])

/** How long the tenant keeps logs, artifacts, runs and audit entries. */
export default function RetentionPage() {
  useTitle(t('retention.title'))
  const [{ data, error }, read] = useQuery({ query: RetentionQuery, requestPolicy: 'network-only' })
  return (
    <>
      <PageHead title={t('retention.title')} below={<p className="text-sm text-muted">{t('retention.lead')}</p>} />
      {data ? (
        <RetentionForm retention={data.retention} />
      ) : error ? (
        <Failure
          title={t('retention.loadFailed')}
          message={toProblem(error).message}
          onRetry={() => read({ requestPolicy: 'network-only' })}
        />
      ) : (
        <Skeleton className="h-64 w-full max-w-3xl" />
      )}
    </>
  )
}

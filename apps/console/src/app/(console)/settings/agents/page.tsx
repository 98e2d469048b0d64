'use client'
import { useQuery } from 'urql'
import { AgentSettingsQuery } from '@/agents/settings-documents.ts'
import { AgentSettingsForm } from '@/agents/settings-form.tsx'
import { toProblem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

/** The tenant's agent settings. */
export default function AgentSettingsPage() {
  useTitle(t('agentSettings.title'))
  const [{ data, error }, read] = useQuery({ query: AgentSettingsQuery, requestPolicy: 'network-only' })
  return (
    <>
      <PageHead title={t('agentSettings.title')} below={<p className="text-sm text-muted">{t('agentSettings.lead')}</p>} />
      {data ? (
        <AgentSettingsForm settings={data.agentSettings} />
      ) : error ? (
        <Failure
          title={t('agentSettings.loadFailed')}
          message={toProblem(error).message}
          onRetry={() => read({ requestPolicy: 'network-only' })}
        />
      ) : (
        <Skeleton className="h-80 w-full max-w-3xl" />
      )}
    </>
  )
}

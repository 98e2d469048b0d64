'use client'
import { SinkList } from '@/audit/sink-list.tsx'
import { t } from '@/messages/index.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'

/** Receivers of all audit entries of the tenant. */
export default function AuditSinksPage() {
  useTitle(t('sinks.title'))
  return (
    <>
      <PageHead title={t('sinks.title')} below={<p className="text-sm text-muted">{t('sinks.lead')}</p>} />
      <SinkList />
    </>
  )
}

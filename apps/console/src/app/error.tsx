'use client'
import { t } from '@/messages/index.ts'
import { Failure } from '@/ui/failure.tsx'

export default function PageError({ reset }: { error: Error; reset: () => void }) {
  return (
    <main className="mx-auto max-w-xl px-4 py-24">
      <Failure title={t('error.page')} message={t('error.pageHint')} onRetry={reset} />
    </main>
  )
}

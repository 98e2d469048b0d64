'use client'
import { t } from '@/messages/index.ts'
import './globals.css'
import { Failure } from '@/ui/failure.tsx'

export default function GlobalError({ reset }: { error: Error; reset: () => void }) {
  return (
    <html lang="en">
      <body>
        <main className="mx-auto max-w-xl px-4 py-24">
          <Failure title={t('error.page')} message={t('error.pageHint')} onRetry={reset} />
        </main>
      </body>
    </html>
  )
}

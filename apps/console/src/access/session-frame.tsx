import type { ReactNode } from 'react'
import { t } from '@/messages/index.ts'
import { Logo } from '@/shell/logo.tsx'

/** The frame of pages before sign-in. */
export function SessionFrame({ title, lead, children }: { title: string; lead?: string; children: ReactNode }) {
  return (
    <main className="grid min-h-dvh place-items-center px-4 py-10">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-2 text-base font-semibold">
          <Logo />
          {t('app.name')}
        </div>
        <div className="rounded-xl border border-line bg-panel p-6">
          <h1 className="text-lg font-semibold tracking-tight">{title}</h1>
          {lead && <p className="mt-1 text-sm text-muted">{lead}</p>}
          <div className="mt-5">{children}</div>
        </div>
      </div>
    </main>
  )
}

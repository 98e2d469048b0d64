'use client'
import { useEffect } from 'react'
import { t } from '@/messages/index.ts'

/** The tab's title while this page is shown. */
export function useTitle(title: string | null | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · ${t('app.name')}` : t('app.name')
  }, [title])
}

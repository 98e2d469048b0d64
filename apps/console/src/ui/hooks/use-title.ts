'use client'
import { useEffect } from 'react'
import { t } from '@/messages/index.ts'

/** Sets the browser tab's title while the page is mounted. */
export function useTitle(title: string | null | undefined): void {
  useEffect(() => {
    document.title = title ? `${title} · ${t('app.name')}` : t('app.name')
  }, [title])
}

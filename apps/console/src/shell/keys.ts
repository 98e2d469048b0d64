'use client'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'

const goTo: Record<string, string> = {
  f: '/fleet',
  n: '/nodes',
  r: '/runs',
  l: '/alerts',
  c: '/credentials',
  t: '/settings/tokens',
  a: '/nodes/add',
}

/** Keyboard shortcuts of every page: `/` search, `?` help, `g` and a letter for navigation. Ignored in inputs and dialogs. */
export function useShortcuts(onHelp: () => void): void {
  const router = useRouter()
  const pendingG = useRef(0)
  const help = useRef(onHelp)
  help.current = onHelp
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      const target = event.target as HTMLElement
      if (
        target.closest('input:not([type=checkbox]), textarea, select, [role=dialog], [role=menu], [contenteditable]') ||
        event.metaKey ||
        event.ctrlKey ||
        event.altKey
      )
        return
      if (event.key === '/') {
        const search = document.querySelector<HTMLInputElement>('[data-search]')
        if (!search) return
        event.preventDefault()
        search.focus()
        search.select()
      } else if (event.key === '?') help.current()
      else if (event.key === 'g') pendingG.current = Date.now()
      else if (goTo[event.key] && Date.now() - pendingG.current < 1200) {
        pendingG.current = 0
        router.push(goTo[event.key] as string)
      }
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [router])
}

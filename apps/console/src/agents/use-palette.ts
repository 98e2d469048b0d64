'use client'
import { useSyncExternalStore } from 'react'

const names = ['panel', 'line', 'line-strong', 'faint', 'text', 'accent', 'ok-dot', 'warn-dot', 'bad-dot'] as const
export type Palette = Record<(typeof names)[number], string>

function read(): Palette {
  const style = getComputedStyle(document.documentElement)
  return Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--c-${name}`).trim()])) as Palette
}
let palette: Palette | null = null
function subscribe(listener: () => void) {
  const observer = new MutationObserver(() => {
    palette = read()
    listener()
  })
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => observer.disconnect()
}

/** The theme's colors for canvas drawing; null on the server. */
export function usePalette(): Palette | null {
  return useSyncExternalStore(
    subscribe,
    () => {
      palette ??= read()
      return palette
    },
    () => null,
  )
}

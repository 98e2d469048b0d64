'use client'
import { useSearchParams } from 'next/navigation'
import { useCallback, useMemo } from 'react'

type Changes = Record<string, string | string[] | null>

function changed(changes: Changes): string {
  const next = new URLSearchParams(location.search)
  for (const [key, value] of Object.entries(changes)) {
    next.delete(key)
    for (const each of value === null ? [] : Array.isArray(value) ? value : [value]) if (each) next.append(key, each)
  }
  const query = next.toString()
  return query ? `${location.pathname}?${query}` : location.pathname
}

/**
 * State that lives in the URL's query, so that it survives a reload and can be sent to a colleague. `set` changes some keys; null or
 * an empty value takes a key out; `go` does too, and back leads to how it was. The router hears of it without asking the server for the page again, so it takes effect at once.
 */
export function useQueryState() {
  const params = useSearchParams()
  const set = useCallback((changes: Changes) => window.history.replaceState(null, '', changed(changes)), [])
  const go = useCallback((changes: Changes) => window.history.pushState(null, '', changed(changes)), [])
  return useMemo(
    () => ({
      get: (key: string) => params.get(key) ?? '',
      all: (key: string) => params.getAll(key),
      set,
      go,
      text: params.toString(),
    }),
    [params, set, go],
  )
}

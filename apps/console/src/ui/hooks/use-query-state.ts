'use client'
import { useSearchParams } from 'next/navigation'
import { useCallback, useMemo } from 'react'

type Changes = Record<string, string | string[] | null>

function applyChanges(changes: Changes): string {
  const next = new URLSearchParams(location.search)
  for (const [key, value] of Object.entries(changes)) {
    next.delete(key)
    for (const each of value === null ? [] : Array.isArray(value) ? value : [value]) if (each) next.append(key, each)
  }
  const query = next.toString()
  return query ? `${location.pathname}?${query}` : location.pathname
}

/**
 * State in the URL query, so that it survives a reload and can be shared. `set` replaces the history entry, `go` adds one; null or an
 * empty value removes a key. Both update the URL without a server request.
 */
export function useQueryState() {
  const params = useSearchParams()
  const set = useCallback((changes: Changes) => window.history.replaceState(null, '', applyChanges(changes)), [])
  const go = useCallback((changes: Changes) => window.history.pushState(null, '', applyChanges(changes)), [])
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

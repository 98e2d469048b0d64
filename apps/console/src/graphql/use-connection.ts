'use client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { type AnyVariables, type TypedDocumentNode, useClient } from 'urql'
import { useReconnect } from './use-live.ts'
import { type Problem, toProblem } from './use-mutation.ts'

type Page<T> = {
  edges: readonly { node: T }[]
  pageInfo: { hasNextPage: boolean; endCursor: string | null }
  totalCount?: number
}
type Loaded<T> = { rows: T[]; cursor: string | null; hasMore: boolean; total: number | null }

const pageSize = 100
const maxPageSize = 500
/** The last rows of each list, so that returning to it shows them immediately. */
const memory = new Map<string, Loaded<unknown>>()

/**
 * A keyset-paged list. `more` appends a page, `patch` replaces a row, `reload` reads all loaded rows again, `reloadDebounced` does so
 * after a pause. `name` and `variables` identify the list.
 */
export function useConnection<D, V extends AnyVariables, T extends { id: string }>(
  name: string,
  document: TypedDocumentNode<D, V>,
  variables: Omit<V, 'first' | 'after'>,
  pick: (data: D) => Page<T>,
) {
  const client = useClient()
  const key = `${name} ${JSON.stringify(variables)}`
  const [state, setState] = useState<{ key: string; loaded: Loaded<T> | null; problem: Problem | null }>(() => ({
    key,
    loaded: (memory.get(key) as Loaded<T>) ?? null,
    problem: null,
  }))
  const latest = useRef({ key, loaded: state.loaded, variables, pick })
  if (latest.current.key !== key) latest.current = { key, loaded: (memory.get(key) as Loaded<T>) ?? null, variables, pick }
  const reading = useRef<{ key: string; token: symbol } | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)

  const put = useCallback((forKey: string, loaded: Loaded<T> | null, problem: Problem | null) => {
    if (latest.current.key !== forKey) return
    latest.current.loaded = loaded
    if (loaded) memory.set(forKey, loaded)
    setState({ key: forKey, loaded, problem })
  }, [])

  /** Reads `count` more rows after `start`, or until the list ends. */
  const read = useCallback(
    async (start: Loaded<T> | null, count: number) => {
      const { key: forKey, variables: given, pick: take } = latest.current
      const token = Symbol()
      reading.current = { key: forKey, token }
      const rows = start ? [...start.rows] : []
      let cursor = start?.cursor ?? null
      let hasMore = true
      let total = start?.total ?? null
      const goal = rows.length + count
      while (hasMore && rows.length < goal) {
        const first = Math.min(maxPageSize, goal - rows.length)
        const result = await client
          .query(document, { ...given, first, after: cursor } as unknown as V, { requestPolicy: 'network-only' })
          .toPromise()
        if (reading.current?.token !== token) return
        if (!result.data) {
          reading.current = null
          if (result.error) put(forKey, latest.current.loaded, toProblem(result.error))
          return
        }
        const page = take(result.data)
        for (const edge of page.edges) rows.push(edge.node)
        cursor = page.pageInfo.endCursor
        hasMore = page.pageInfo.hasNextPage && page.edges.length > 0
        total = page.totalCount ?? total
      }
      reading.current = null
      put(forKey, { rows, cursor, hasMore, total }, null)
    },
    [client, document, put],
  )

  const reload = useCallback(() => read(null, Math.max(pageSize, latest.current.loaded?.rows.length ?? 0)), [read])
  const more = useCallback(() => {
    const { loaded } = latest.current
    // A user who scrolls past the first page usually continues; read a large page.
    if (loaded?.hasMore && !reading.current) void read(loaded, maxPageSize)
  }, [read])
  const reloadDebounced = useCallback(() => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => void reload(), 600)
  }, [reload])
  const patch = useCallback(
    (row: T): boolean => {
      const { key: forKey, loaded } = latest.current
      const index = loaded?.rows.findIndex((each) => each.id === row.id) ?? -1
      if (!loaded || index < 0) return false
      const rows = [...loaded.rows]
      rows[index] = row
      put(forKey, { ...loaded, rows }, null)
      return true
    },
    [put],
  )

  // biome-ignore lint/correctness/useExhaustiveDependencies: another key is another list
  useEffect(() => {
    void reload()
    return () => clearTimeout(timer.current)
  }, [reload, key])
  useReconnect(reload)

  const shown = state.key === key ? state : { loaded: latest.current.loaded, problem: null }
  return {
    rows: shown.loaded?.rows ?? [],
    total: shown.loaded?.total ?? null,
    hasMore: shown.loaded?.hasMore ?? false,
    isLoading: !shown.loaded && !shown.problem,
    problem: shown.problem,
    more,
    reload,
    reloadDebounced,
    patch,
  }
}

'use client'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react'
import { useClient } from 'urql'
import { onSignedOut } from '@/graphql/session.ts'
import { type Problem, problemOf } from '@/graphql/use-verb.ts'
import { type Viewer, ViewerQuery } from './documents.ts'

const Context = createContext<Viewer | null>(null)

/** The signed-in person; only inside the console's pages, which nobody else sees. */
export function useViewer(): Viewer {
  const viewer = useContext(Context)
  if (!viewer) throw new Error('useViewer outside of the signed-in part')
  return viewer
}

/** Who is signed in, read once: undefined while unknown, null for nobody. */
export function useWhoAmI(): { viewer: Viewer | null | undefined; problem: Problem | null; retry: () => void } {
  const client = useClient()
  const [viewer, setViewer] = useState<Viewer | null>()
  const [problem, setProblem] = useState<Problem | null>(null)
  const read = useCallback(async () => {
    setProblem(null)
    const result = await client.query(ViewerQuery, {}, { requestPolicy: 'network-only' }).toPromise()
    if (result.data) setViewer(result.data.viewer)
    else if (result.error) setProblem(problemOf(result.error))
  }, [client])
  useEffect(() => void read(), [read])
  useEffect(() => onSignedOut(() => setViewer(null)), [])
  return { viewer, problem, retry: read }
}

export function ViewerProvider({ viewer, children }: { viewer: Viewer; children: ReactNode }) {
  return <Context value={viewer}>{children}</Context>
}

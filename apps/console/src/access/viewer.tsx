'use client'
import { createContext, type ReactNode, useCallback, useContext, useEffect, useState } from 'react'
import { useClient } from 'urql'
import { onSignedOut } from '@/graphql/session.ts'
import { type Problem, toProblem } from '@/graphql/use-mutation.ts'
import { languageReady } from '@/messages/language.ts'
import { type Viewer, ViewerQuery } from './session-documents.ts'

const Context = createContext<Viewer | null>(null)

/** The signed-in user; only for pages that require a sign-in. */
export function useViewer(): Viewer {
  const viewer = useContext(Context)
  if (!viewer) throw new Error('useViewer needs a ViewerProvider')
  return viewer
}

/** Why the signed-in user lacks the permission; null when the user holds it. */
export function useBlockedReason(permission: string): string | null {
  const known = useViewer().permissions.find(({ name }) => name === permission)
  if (!known) throw new Error(`The API has no permission ${permission}.`)
  return known.blockedReason
}

/** Reads the signed-in user: undefined while loading, null when signed out. */
export function useCurrentViewer(): { viewer: Viewer | null | undefined; problem: Problem | null; retry: () => void } {
  const client = useClient()
  const [viewer, setViewer] = useState<Viewer | null>()
  const [problem, setProblem] = useState<Problem | null>(null)
  const read = useCallback(async () => {
    setProblem(null)
    const result = await client.query(ViewerQuery, {}, { requestPolicy: 'network-only' }).toPromise()
    if (result.data) setViewer(result.data.viewer)
    else if (result.error) setProblem(toProblem(result.error))
  }, [client])
  useEffect(() => {
    let isMounted = true
    void languageReady.then(() => {
      if (isMounted) void read()
    })
    return () => {
      isMounted = false
    }
  }, [read])
  // The session of one request or of the socket ended. The browser may have another one.
  useEffect(() => onSignedOut(() => void read()), [read])
  return { viewer, problem, retry: read }
}

export function ViewerProvider({ viewer, children }: { viewer: Viewer; children: ReactNode }) {
  return <Context value={viewer}>{children}</Context>
}

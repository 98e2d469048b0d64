'use client'
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react'
import { Provider } from 'urql'
import { createConsoleClient } from '@/graphql/client.ts'
import { resetSocket } from '@/graphql/socket.ts'
import { Toasts } from '@/ui/toast.tsx'

const Restart = createContext<() => void>(() => {})

/** Forget everything read so far: another person, or nobody, is signed in now. */
export function useFreshClient(): () => void {
  return useContext(Restart)
}

export function Providers({ children }: { children: ReactNode }) {
  const [generation, setGeneration] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new generation is the wish for a new client
  const client = useMemo(createConsoleClient, [generation])
  const restart = useMemo(
    () => () => {
      resetSocket()
      setGeneration((value) => value + 1)
    },
    [],
  )
  return (
    <Restart value={restart}>
      <Provider value={client}>{children}</Provider>
      <Toasts />
    </Restart>
  )
}

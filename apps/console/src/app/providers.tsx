'use client'
import { Tooltip } from '@base-ui/react/tooltip'
import { Fragment, type ReactNode, useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { Provider } from 'urql'
import { createConsoleClient } from '@/graphql/client.ts'
import { FreshClient } from '@/graphql/fresh-client.ts'
import { resetSocket } from '@/graphql/socket.ts'
import { getLanguage, startLanguage, subscribeLanguage } from '@/messages/language.ts'
import { followSystemTheme } from '@/shell/theme.ts'
import { Toasts } from '@/ui/toast.tsx'

export function Providers({ children }: { children: ReactNode }) {
  const [generation, setGeneration] = useState(0)
  const language = useSyncExternalStore(subscribeLanguage, getLanguage, () => 'en' as const)
  useEffect(() => void startLanguage(), [])
  useEffect(followSystemTheme, [])
  // biome-ignore lint/correctness/useExhaustiveDependencies: each generation needs its own client, and each language its own texts
  const client = useMemo(createConsoleClient, [generation, language])
  const restart = useMemo(
    () => () => {
      resetSocket()
      setGeneration((value) => value + 1)
    },
    [],
  )
  return (
    <FreshClient value={restart}>
      <Provider value={client}>
        <Tooltip.Provider>
          {/* Messages are not reactive: another language mounts the page again. */}
          <Fragment key={language}>
            {children}
            <Toasts />
          </Fragment>
        </Tooltip.Provider>
      </Provider>
    </FreshClient>
  )
}

import { createContext, useContext } from 'react'

/** Function that drops the GraphQL client with its cache and connection. */
export const FreshClient = createContext<() => void>(() => {})

/** Drops the GraphQL client with its cache and connection, for use after the user changed. */
export function useFreshClient(): () => void {
  return useContext(FreshClient)
}

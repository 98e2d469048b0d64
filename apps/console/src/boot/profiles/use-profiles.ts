'use client'
import { useEffect } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { ProfilesQuery } from './documents.ts'

/** All boot profiles: the remaining pages are read one after the other, so that a search and a choice include all of them. */
export function useProfiles() {
  const list = useConnection('boot-profiles', ProfilesQuery, {}, (data) => data.bootProfiles)
  const { rows, hasMore, more } = list
  // biome-ignore lint/correctness/useExhaustiveDependencies: each page that arrives requests the next one
  useEffect(() => {
    if (hasMore) more()
  }, [rows, hasMore, more])
  return list
}

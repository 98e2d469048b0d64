'use client'
import { useEffect, useMemo, useState } from 'react'
import { useLiveObjects } from '@/graphql/use-live.ts'
import { ConnectionTestUpdated, type Preflight } from '@/nodes/documents.ts'

/** The live state of connection tests; `isFinished` when all have finished. */
export function usePreflight(ids: string[]): { tests: Preflight[]; isFinished: boolean } {
  const [tests, setTests] = useState<ReadonlyMap<string, Preflight>>(new Map())
  const key = ids.join()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the states belong to these tests
  useEffect(() => setTests(new Map()), [key])
  useLiveObjects(ConnectionTestUpdated, ids, ({ connectionTestUpdated }) =>
    setTests((before) => new Map(before).set(connectionTestUpdated.id, connectionTestUpdated)),
  )
  return useMemo(() => {
    const known = ids.flatMap((id) => tests.get(id) ?? [])
    return {
      tests: known,
      isFinished: ids.length > 0 && known.length === ids.length && known.every((test) => test.finishedAt !== null),
    }
  }, [tests, ids])
}

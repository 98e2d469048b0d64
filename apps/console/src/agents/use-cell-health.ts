'use client'
import { useEffect, useState } from 'react'
import { useQuery } from 'urql'
import { FleetNodeQuery } from './documents.ts'

/** Hover time before a cell is read, so that a moving pointer sends no requests. */
const DELAY_MS = 150

/** Overall health of the node with this name, read again when the name changes; undefined while it is read. */
export function useCellHealth(name: string | undefined) {
  const [settled, setSettled] = useState<string>()
  useEffect(() => {
    const timer = setTimeout(() => setSettled(name), DELAY_MS)
    return () => clearTimeout(timer)
  }, [name])
  const isSettled = name !== undefined && settled === name
  const [{ data, stale }] = useQuery({
    query: FleetNodeQuery,
    variables: { name: name ?? '' },
    pause: !isSettled,
    requestPolicy: 'network-only',
  })
  // While urql reads the next node, `data` is still the previous node.
  const node = data?.computeNode
  return isSettled && !stale && node?.name === name ? node?.health : undefined
}

'use client'
import { useEffect, useState } from 'react'
import { type TypedDocumentNode, useQuery } from 'urql'

const TYPING_PAUSE_MS = 400

/** Reads a preview again when its input changes and typing pauses. */
export function usePreview<Data, Input>(query: TypedDocumentNode<Data, { input: Input }>, input: Input, isComplete: boolean) {
  const key = JSON.stringify(input)
  const [settled, setSettled] = useState(key)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(key), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [key])
  const isSettled = settled === key
  const [{ data, error, fetching }] = useQuery({
    query,
    variables: { input: JSON.parse(settled) as Input },
    pause: !isComplete || !isSettled,
    requestPolicy: 'network-only',
  })
  const isCurrent = isComplete && isSettled && !fetching
  return {
    data: isCurrent ? (data ?? null) : null,
    error: isCurrent ? (error ?? null) : null,
    isLoading: isComplete && !isCurrent,
  }
}

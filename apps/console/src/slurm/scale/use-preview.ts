'use client'
import { type TypedDocumentNode, useQuery } from 'urql'
import { useSettled } from '@/ui/hooks/use-settled.ts'

/** Reads a preview again when its input changes and typing pauses. */
export function usePreview<Data, Input>(query: TypedDocumentNode<Data, { input: Input }>, input: Input, isComplete: boolean) {
  const key = JSON.stringify(input)
  const settled = useSettled(key)
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

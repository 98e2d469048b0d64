import { useEffect, useRef } from 'react'

/** Focuses the first invalid field of an element when one of `problems` changes: it may be outside of the visible part. */
export function useInvalidFocus<T extends HTMLElement>(...problems: readonly unknown[]) {
  const ref = useRef<T>(null)
  const known = useRef(problems)
  useEffect(() => {
    if (problems.every((problem, i) => problem === known.current[i])) return
    known.current = problems
    ref.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus()
  })
  return ref
}

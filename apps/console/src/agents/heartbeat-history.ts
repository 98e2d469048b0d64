const stepMs = 5 * 60_000

/** Fills the gaps of a 5-minute history with null. Oldest first. */
export function fillGaps<T extends { at: string }>(history: readonly T[]): (T | null)[] {
  const first = history[0]
  const last = history.at(-1)
  if (!first || !last) return []
  const place = ({ at }: T) => Math.round((Date.parse(at) - Date.parse(first.at)) / stepMs)
  const steps: (T | null)[] = Array.from({ length: place(last) + 1 }, () => null)
  for (const each of history) steps[place(each)] = each
  return steps
}

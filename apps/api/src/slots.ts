/** Counts what each caller has in progress, up to `most`. */
export function createSlots(most: number) {
  const counts = new Map<string, number>()
  return {
    /** Takes a slot. @returns releases it, once; null when the caller has `most` */
    take(caller: string): (() => void) | null {
      const count = counts.get(caller) ?? 0
      if (count >= most) return null
      counts.set(caller, count + 1)
      let isReleased = false
      return () => {
        if (isReleased) return
        isReleased = true
        const left = counts.get(caller)! - 1
        if (left > 0) counts.set(caller, left)
        else counts.delete(caller)
      }
    },
  }
}
export type Slots = ReturnType<typeof createSlots>

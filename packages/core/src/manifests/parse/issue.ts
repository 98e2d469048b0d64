export type Position = { line: number; column: number }

/** A problem of a manifest. `document` counts from 1 in its file; `path` is the dotted path of the field, empty for the whole document. */
export type ManifestIssue = Position & {
  file: string
  document: number
  path: string
  message: string
  /** Allowed values or names of fields; empty when it is not about them. */
  allowed: string[]
}

/** Issues beyond these are counted only. */
export const MAX_ISSUES = 200

/** Edits from one short word to another, a swap of neighbors counts once; hand-written because it is a few lines. */
function distance(a: string, b: string): number {
  let [previous, row] = [[] as number[], Array.from({ length: b.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const edits = [row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)]
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) edits.push(previous[j - 2]! + 1)
      next.push(Math.min(...edits))
    }
    ;[previous, row] = [row, next]
  }
  return row[b.length]!
}

/** The allowed name that a mistyped one probably means; null when none is near. */
export function nearestName(name: string, allowed: readonly string[]): string | null {
  if (name.length > 60) return null
  const plain = (text: string) => text.toLowerCase().replace(/[_-]/g, '')
  const [best] = allowed.map((each) => ({ each, far: distance(plain(name), plain(each)) })).sort((a, b) => a.far - b.far)
  return best && best.far <= Math.max(1, Math.floor(name.length / 3)) ? best.each : null
}

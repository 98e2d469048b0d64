import type { z } from 'zod'
import { Heartbeat } from './heartbeat.ts'

type Path = PropertyKey[]

/** Values that identify a heartbeat or decide about a state: a heartbeat with a wrong one is rejected. */
const ESSENTIAL =
  /^(node_id|cluster_id|sequence_number|timestamp|measured_at|boot_epoch|hardware_fingerprint|capacity\b.*|health|health\.status)?$/
/** Values become null, then elements of lists are dropped, then lists are cut; the last round checks the result. */
const MAX_ROUNDS = 5

/**
 * Repairs a heartbeat with values out of their bounds: long lists and texts are cut, other values become null, which means unknown.
 * Agents must not lose a heartbeat to a figure that nothing depends on.
 * @returns null when an essential value is wrong
 */
export function trimHeartbeat(value: unknown): Heartbeat | null {
  const heartbeat = structuredClone(value)
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const parsed = Heartbeat.safeParse(heartbeat)
    if (parsed.success) return parsed.data
    const done = new Set<string>()
    // From the end, so that dropped elements do not move those that follow.
    for (const issue of parsed.error.issues.toReversed()) if (!repair(heartbeat, issue, done)) return null
  }
  return null
}

/** A value can have several issues, of which the first one repairs it. */
function isRepeated(path: Path, done: Set<string>): boolean {
  const key = path.join('.')
  return done.size === done.add(key).size
}

const valueAt = (root: unknown, path: Path): unknown =>
  path.reduce((value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key], root)

function repair(heartbeat: unknown, issue: z.core.$ZodIssue, done: Set<string>): boolean {
  const { path } = issue
  if (ESSENTIAL.test(path.join('.'))) return false
  if (isRepeated(path, done)) return true
  const value = valueAt(heartbeat, path)
  if (value == null) return dropElement(heartbeat, path, done)
  const parent = valueAt(heartbeat, path.slice(0, -1)) as Record<PropertyKey, unknown>
  const isCut = issue.code === 'too_big' && (typeof value === 'string' || Array.isArray(value))
  parent[path.at(-1)!] = isCut ? value.slice(0, Number(issue.maximum)) : null
  return true
}

/** A value that must not be null is a member of a list's element, or the element itself. */
function dropElement(heartbeat: unknown, path: Path, done: Set<string>): boolean {
  const at = path.findLastIndex((key) => typeof key === 'number')
  const element = path.slice(0, at + 1)
  const list = valueAt(heartbeat, path.slice(0, at))
  if (at < 0 || !Array.isArray(list)) return false
  if (!isRepeated(['element', ...element], done)) list.splice(Number(path[at]), 1)
  return true
}

import { globSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Actor } from './kernel/context.ts'
import { actorRole } from './kernel/permissions.ts'

/** A row: points in time and plural fields are set or empty, all other fields are set. */
const row = (isSet: boolean) =>
  new Proxy(
    {},
    {
      get(_, field) {
        if (typeof field !== 'string') return undefined
        if (/At$/.test(field)) return isSet ? new Date(0) : null
        if (/^(is|has)[A-Z]/.test(field)) return isSet
        return isSet ? 'x' : null
      },
    },
  )
const user = (role: 'viewer' | 'owner') => ({ kind: 'user', id: 'u', name: 'Ada', ...actorRole(role, role === 'owner') }) as Actor
const users = { nodes: 'x', bastions: ['x'], templates: ['x'], versions: ['x'], clusters: ['x'], openRuns: 1, runs: 1 }
const values = [user('viewer'), user('owner'), row(true), row(false), 0, true, 'x', ['x'], users]
const role = { name: 'Night', permissions: new Set(['x']) }
const others = [{ ...role, role }, { version: 1, left: 1 }, { ansible_remote_tmp: 'x' }, 'admin', {}]

const tuples = (length: number): unknown[][] =>
  length === 0 ? [[]] : tuples(length - 1).flatMap((rest) => [...values, ...others].map((value) => [...rest, value]))

/** Functions that return a phrase; callers add the subject and the full stop. */
const PHRASES = ['chooseEmailBlockedReason', 'exceedsBlockedReason', 'grantBlockedReason', 'nodeBlockedReason']

/** All reasons that `blockedReason` returns for combinations of these values. */
function reasonsOf(blockedReason: (...values: unknown[]) => unknown): Set<string> {
  const reasons = new Set<string>()
  for (const args of tuples(Math.min(blockedReason.length, 4)))
    try {
      const reason = blockedReason(...args)
      if (typeof reason === 'string') reasons.add(reason)
    } catch {
      // A value of another type than the parameter.
    }
  return reasons
}

const files = globSync('*/policy.ts', { cwd: import.meta.dirname }).sort()

test('finds the policies', () => expect(files.length).toBeGreaterThan(10))

describe.each(files)('%s', async (file) => {
  const policy: Record<string, unknown> = await import(join(import.meta.dirname, file))
  const names = Object.keys(policy).filter((name) => name.endsWith('BlockedReason') && !PHRASES.includes(name))
  test.each(names)('%s returns sentences with one full stop at the end', (name) => {
    const reasons = reasonsOf(policy[name] as (...values: unknown[]) => unknown)
    expect(reasons.size).toBeGreaterThan(0)
    for (const reason of reasons) expect(reason).toMatch(/^[A-Z].*[^.]\.$/s)
  })
  test.each(Object.keys(policy).filter((name) => PHRASES.includes(name)))('%s returns phrases without a full stop', (name) => {
    const reasons = reasonsOf(policy[name] as (...values: unknown[]) => unknown)
    expect(reasons.size).toBeGreaterThan(0)
    for (const reason of reasons) expect(reason).toMatch(/^[a-z].*[^.]$/s)
  })
})

import fs from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Actor } from './kernel/context.ts'
import { Forbidden } from './kernel/errors.ts'
import { actorRole } from './kernel/permissions.ts'

type Verb = (ctx: unknown, ...rest: unknown[]) => unknown

/** Functions that take a ctx and only read, which every role may, and `idempotent`, which runs the work of a verb. */
const NOT_VERBS = new Set([
  'assertRunnable',
  'blockedNodes',
  'bmcConflicts',
  'blockersOf',
  'compareVars',
  'compareWithPrevious',
  'countFailureSignatures',
  'credentialKey',
  'diffNodeDiscoveries',
  'effectiveBootProfiles',
  'effectiveVars',
  'estimateSlurmStarts',
  'exportManifests',
  'factVariables',
  'failureSignatures',
  'findBootNodes',
  'findNodes',
  'hostVariables',
  'idempotent',
  'ledgerVerifierKeys',
  'locksOf',
  'lookUpSlurmJobs',
  'lookUpSlurmPriority',
  'planManifests',
  'previewRun',
  'proveLedgerConsistency',
  'proveLedgerEntry',
  'previewBoots',
  'readBootDurations',
  'readBootParameters',
  'readDhcpConfig',
  'readComponentGroups',
  'readComponents',
  'readInventory',
  'readJobRunLog',
  'readKnownHosts',
  'readPlaybookBundle',
  'resolveBootProfiles',
  'runMatrices',
  'runsAtNodes',
  'selectNodes',
  'unapprovedBastionReasons',
  'unknownBootProfile',
  'varsImpact',
  'varsOfNodes',
])

const exported = new Map<string, Verb>()
for (const file of fs.globSync('*/index.ts', { cwd: import.meta.dirname, exclude: ['testing'] }))
  for (const [name, value] of Object.entries(await import(path.join(import.meta.dirname, file))))
    if (typeof value === 'function' && /^(async )?(function\*? ?\w*)?\(?ctx\b/.test(value.toString()))
      exported.set(name, value as Verb)
const verbs = [...exported].filter(([name]) => !NOT_VERBS.has(name))

const viewer: Actor = { kind: 'user', id: 'u1', name: 'Vera', ...actorRole('viewer') }
const db = new Proxy({}, { get: (_, method) => expect.unreachable(`db.${String(method)} was used before authorize`) })

describe('rejects a viewer before the first statement', () => {
  it.each(verbs)('%s', async (_, verb) => {
    const call = async () => {
      const result = verb({ actor: viewer, tenantId: 't1', db }, {}, {})
      // A generator runs from its first `next`.
      return result instanceof Object && 'next' in result ? (result as AsyncGenerator).next() : result
    }
    await expect(call()).rejects.toThrow(Forbidden)
  })
})

it('lists only functions that exist', () => {
  expect(verbs.length).toBeGreaterThan(80)
  expect([...NOT_VERBS].filter((name) => !exported.has(name))).toEqual([])
})

import { sql } from 'drizzle-orm'
import { boolean, index, jsonb, snakeCase, text, uuid } from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import { credentials } from '../credentials/tables.ts'
import { at, createdAt, id } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

export const PREFLIGHT_STAGES = [
  'RESOLVE',
  'TCP',
  'BANNER',
  'HOST_KEY',
  'AUTHENTICATION',
  'SHELL',
  'SUDO',
  'PYTHON',
  'ANSIBLE',
] as const

export type PreflightStageName = (typeof PREFLIGHT_STAGES)[number]

/** One stage of a connection test. `hop` is the bastion's name, or null for the node itself. */
export type PreflightStage = {
  stage: PreflightStageName
  hop: string | null
  state: 'OK' | 'FAILED' | 'SKIPPED'
  durationMs: number
  /** The observation: an address, a banner, a fingerprint, a version. */
  detail: string | null
  /** The next step after a failure. */
  hint: string | null
  /** HOST_KEY only: the key offered, `type base64`, and whose object must approve it. */
  offeredKey?: { objectType: 'ComputeNode' | 'Credential'; objectId: string; key: string; fingerprint: string; changed: boolean }
}

/** A staged preflight of one node. */
export const connectionTests = snakeCase.table(
  'connection_tests',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    nodeId: uuid()
      .notNull()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    /** Tested in place of the node's own credential of its kind; the result does not change the node. */
    credentialId: uuid().references(() => credentials.id, { onDelete: 'cascade' }),
    stages: jsonb().$type<PreflightStage[]>().notNull().default(sql`'[]'::jsonb`),
    /** Set at the end: whether every required stage was OK. */
    isOk: boolean(),
    error: text(),
    createdAt: createdAt(),
    startedAt: at(),
    finishedAt: at(),
  },
  (t) => [
    index().on(t.nodeId, t.id),
    index().on(t.tenantId, t.id),
    index().on(t.createdAt).where(sql`finished_at is null`),
    index().on(t.credentialId),
  ],
)

export type ConnectionTest = typeof connectionTests.$inferSelect

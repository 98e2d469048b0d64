import { sql } from 'drizzle-orm'
import { credentials } from '../credentials/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { computeNodes } from '../nodes/tables.ts'
import { credentialRotations } from './tables.ts'

export type RotationFacts = {
  /** Number of nodes that log in with the credential over SSH. */
  nodes: number
  isRotating: boolean
  /** Name of such a node on which sudo has a password; null when there is none. */
  sudoNode: string | null
}

/** What `rotateBlockedReason` needs of visible credentials, by ID. */
export async function findRotationFacts(db: Db | Tx, ctx: Ctx, ids: readonly string[]): Promise<Map<string, RotationFacts>> {
  const ofCredential = sql`n.credential_id = ${credentials.id} and n.connection_type = 'ssh' and n.decommissioned_at is null`
  const { rows } = await db.execute<RotationFacts & { id: string }>(sql`
    select ${credentials.id},
      (select count(*)::int from ${computeNodes} n where ${ofCredential}) as nodes,
      exists (select from ${credentialRotations} r where r.credential_id = ${credentials.id} and r.finished_at is null) as "isRotating",
      (select min(n.name) from ${computeNodes} n join ${credentials} b on b.id = n.become_credential_id
        where ${ofCredential} and b.become_method = 'sudo' and (b.encrypted ? 'password' or b.secret_refs ? 'password')) as "sudoNode"
    from ${credentials} where ${visibleTo(ctx, credentials)} and ${isOneOf(credentials.id, [...ids])}`)
  return new Map(rows.map(({ id, ...facts }) => [id, facts]))
}

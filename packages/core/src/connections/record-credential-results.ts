import { and, eq, sql } from 'drizzle-orm'
import { credentials } from '../credentials/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import type { ComputeNode } from '../nodes/tables.ts'
import type { ConnectionTest, PreflightStage } from './tables.ts'

/**
 * Records what a finished connection test shows about its credentials: AUTHENTICATION for the login of each hop, SUDO for the
 * become credential. A credential that was not reached keeps its last result.
 * @returns why the tested credential failed; null when it did not, or none was tested
 */
export async function recordCredentialResults(
  tx: Tx,
  ctx: Ctx,
  test: ConnectionTest,
  node: Pick<ComputeNode, 'credentialId' | 'becomeCredentialId'>,
): Promise<string | null> {
  const [tried] = test.credentialId
    ? await tx.select({ kind: credentials.kind }).from(credentials).where(eq(credentials.id, test.credentialId))
    : []
  const become = tried?.kind === 'BECOME' ? test.credentialId : node.becomeCredentialId
  const login = tried?.kind === 'SSH_KEY' || tried?.kind === 'SSH_PASSWORD' ? test.credentialId : node.credentialId
  let failure: string | null = null
  const record = async (which: { id: string | null } | { name: string }, error: string | null) => {
    if ('id' in which && which.id === null) return
    const [noted] = await tx
      .update(credentials)
      .set({ lastResultAt: sql`now()`, lastResultError: error, updatedAt: sql`${credentials.updatedAt}` })
      .where(and(visibleTo(ctx, credentials), 'id' in which ? eq(credentials.id, which.id!) : eq(credentials.name, which.name)))
      .returning({ id: credentials.id })
    if (noted && noted.id === test.credentialId) failure = error
  }
  for (const stage of test.stages) {
    if (stage.state === 'SKIPPED') continue
    if (stage.stage === 'AUTHENTICATION') await record(stage.hop === null ? { id: login } : { name: stage.hop }, reasonOf(stage))
    else if (stage.stage === 'SUDO') await record({ id: become }, reasonOf(stage))
  }
  // The secrets of the credential were unavailable, so the test has no stages.
  if (test.stages.length === 0 && test.credentialId && !test.isOk) await record({ id: test.credentialId }, test.error)
  return failure
}

const reasonOf = ({ state, detail, hint }: PreflightStage): string | null =>
  state === 'FAILED' ? [detail, hint].filter(Boolean).join(' ') : null

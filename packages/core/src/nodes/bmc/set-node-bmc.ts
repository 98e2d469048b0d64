import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, changeOf } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { notFoundOrConflict, sqlState, UNIQUE_VIOLATION, visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, InvalidInput, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { type LocalTarget, targetIssues } from '../../kernel/outbound/index.ts'
import { nodeAudit } from '../audit-actions.ts'
import { nodeChanged } from '../change-events.ts'
import { checkReferences } from '../fields.ts'
import { nodePermissions } from '../permissions.ts'
import { updateBlockedReason } from '../policy.ts'
import { computeNodes, type NodeBmc, nodeBmcs } from '../tables.ts'
import { BMC_FIELDS, BMC_PORTS, bmcIssues } from './fields.ts'
import { bmcTaken, ownersOfBmcs } from './write-bmcs.ts'

export const SetNodeBmcInput = z.object({ nodeId: Id, ...z.object(BMC_FIELDS).partial().shape })

/**
 * Sets the BMC of a node, or the given fields of the BMC that it has; null clears a field. Another address, port or protocol also clears
 * the fingerprint, because another machine answers there. Grants for some nodes do not suffice: another machine would be powered off as
 * one of them.
 * @param localTargets the local addresses that the installation allows
 * @throws InvalidInput, Forbidden, NotFound
 * @throws Conflict the node is decommissioned, or another node has the BMC
 */
export async function setNodeBmc(
  ctx: Ctx,
  input: z.input<typeof SetNodeBmcInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<NodeBmc> {
  authorize(ctx, nodePermissions.write)
  const { nodeId, ...fields } = parseInput(SetNodeBmcInput, input)
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as typeof fields
  if (given.address !== undefined) {
    const issues = await targetIssues([{ path: 'address', host: given.address, port: given.port ?? null }], localTargets)
    if (issues.length > 0) throw new InvalidInput(issues)
  }
  let place: Pick<NodeBmc, 'address' | 'port' | 'systemPath'> | undefined
  const work = inTransaction(ctx, async (tx, ctx) => {
    const scope = and(visibleTo(ctx, computeNodes), eq(computeNodes.id, nodeId), isNull(computeNodes.decommissionedAt))
    const [node] = await tx.select().from(computeNodes).where(scope).for('no key update')
    if (!node) throw await notFoundOrConflict(tx, ctx, computeNodes, nodeId, 'node', (row) => updateBlockedReason(ctx.actor, row))
    const ofNode = and(visibleTo(ctx, nodeBmcs), eq(nodeBmcs.nodeId, nodeId))
    const [before] = await tx.select().from(nodeBmcs).where(ofNode)
    const protocol = given.protocol ?? before?.protocol ?? 'REDFISH'
    const address = given.address ?? before?.address
    const credentialId = given.credentialId ?? before?.credentialId
    const missing = [...(address ? [] : ['address']), ...(credentialId ? [] : ['credentialId'])]
    if (missing.length > 0) throw new InvalidInput(missing.map((path) => ({ path, message: 'is required' })))
    const isOther = before !== undefined && protocol !== before.protocol
    const port = given.port ?? (given.port === null || !before || isOther ? BMC_PORTS[protocol] : before.port)
    const isMoved = before !== undefined && (address !== before.address || port !== before.port || isOther)
    const kept = isMoved ? null : before
    const values = {
      ...{ protocol, address: address!, port, credentialId: credentialId! },
      mac: given.mac === undefined ? (kept?.mac ?? null) : given.mac,
      fingerprint:
        given.fingerprint === undefined ? (given.caCertificate ? null : (kept?.fingerprint ?? null)) : given.fingerprint,
      caCertificate:
        given.caCertificate === undefined
          ? given.fingerprint || isOther
            ? null
            : (before?.caCertificate ?? null)
          : given.caCertificate,
      systemPath: given.systemPath === undefined ? (isOther ? '' : (before?.systemPath ?? '')) : (given.systemPath ?? ''),
    }
    const issues = bmcIssues({ ...values, ...given, protocol })
    if (issues.length > 0) throw new InvalidInput(issues)
    // A new address or credential sends the password elsewhere. A form may send those that the BMC has already.
    if (isMoved || credentialId !== before?.credentialId) {
      const at = { bmcCredentialId: 'credentialId' }
      await checkReferences(tx, ctx, { bmcCredentialId: credentialId! }, { host: values.address, at })
    }
    place = values
    // What was read from the BMC is deleted with the row of another one.
    if (isMoved) await tx.delete(nodeBmcs).where(ofNode)
    const [bmc] = await tx
      .insert(nodeBmcs)
      .values({ ...values, nodeId, tenantId: ctx.tenantId })
      .onConflictDoUpdate({ target: nodeBmcs.nodeId, set: { ...values, updatedAt: sql`now()` } })
      .returning()
    const details = {
      address: bmc!.address,
      ...(isMoved ? { from: before.address } : {}),
      ...(before?.fingerprint && before.fingerprint !== bmc!.fingerprint ? { droppedFingerprint: before.fingerprint } : {}),
      ...(bmc!.fingerprint ? { fingerprint: bmc!.fingerprint } : {}),
    }
    await audit(tx, ctx, nodeAudit.setBmc, node, details, { change: changeOf(nodeBmcs, before ?? null, bmc!) })
    ctx.notify(nodeChanged({ id: nodeId, tenantId: ctx.tenantId }))
    return bmc!
  })
  return work.catch(async (error: unknown) => {
    if (sqlState(error) !== UNIQUE_VIOLATION || !place) throw error
    const [owner] = await ownersOfBmcs(ctx.db, ctx, [place])
    throw new Conflict(owner ? bmcTaken(owner) : `The BMC ${place.address} was in use a moment ago; try again.`)
  })
}

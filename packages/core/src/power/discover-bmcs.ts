import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { credentialPermissions } from '../credentials/permissions.ts'
import { credentials } from '../credentials/tables.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { Port } from '../kernel/address.ts'
import { authorize, type Ctx, createdBy } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { CaCertificate } from '../kernel/outbound/index.ts'
import { expandAddresses } from './addresses.ts'
import { bmcDiscoveryAudit } from './audit-actions.ts'
import { bmcDiscoveryChanged } from './change-events.ts'
import { bmcPermissions } from './permissions.ts'
import { bmcDiscoveryQueue } from './queues.ts'
import { type BmcDiscovery, bmcDiscoveries } from './tables.ts'

const DiscoverBmcsInput = z.object({
  addresses: z.array(z.string().max(300)).min(1, 'must name at least one address').max(500, 'at most 500'),
  port: Port.nullish(),
  credentialId: Id.nullish(),
  caCertificate: CaCertificate.nullish(),
  idempotencyKey: IdempotencyKey,
})

/**
 * Starts a search for Redfish services. Without a login, it finds their product and the fingerprint of their certificate. A credential is
 * sent only to services with a certificate of `caCertificate`, or of an authority that the installation trusts; then it also reads the
 * systems, and finds their nodes.
 * @throws InvalidInput, Forbidden
 */
export async function discoverBmcs(ctx: Ctx, input: z.input<typeof DiscoverBmcsInput>): Promise<BmcDiscovery> {
  authorize(ctx, bmcPermissions.discover)
  const { idempotencyKey, ...fields } = parseInput(DiscoverBmcsInput, input)
  if (fields.credentialId) authorize(ctx, credentialPermissions.use)
  const expanded = expandAddresses(fields.addresses)
  if ('problem' in expanded) throw new InvalidInput([{ path: 'addresses', message: expanded.problem }])
  const key = { verb: 'discoverBmcs', key: idempotencyKey, input: fields, result: oneRow(bmcDiscoveries) }
  return idempotent(ctx, key, async (tx, ctx) => {
    if (fields.credentialId) {
      const scope = and(visibleTo(ctx, credentials), eq(credentials.id, fields.credentialId))
      const [credential] = await tx.select({ kind: credentials.kind }).from(credentials).where(scope).for('key share')
      const message = credential ? 'must be a credential of the kind BMC' : `There is no credential ${fields.credentialId}.`
      if (credential?.kind !== 'BMC') throw new InvalidInput([{ path: 'credentialId', message }])
    }
    const [discovery] = await tx
      .insert(bmcDiscoveries)
      .values({
        ...fields,
        tenantId: ctx.tenantId,
        protocol: 'REDFISH',
        port: fields.port ?? 443,
        addressCount: expanded.addresses.length,
        ...createdBy(ctx),
      })
      .returning()
    await ctx.queue.send(tx, bmcDiscoveryQueue, [discovery!])
    const details = { addresses: fields.addresses, addressCount: expanded.addresses.length }
    await audit(tx, ctx, bmcDiscoveryAudit.start, { id: discovery!.id, name: fields.addresses[0]! }, details)
    ctx.notify(bmcDiscoveryChanged(discovery!))
    return discovery!
  })
}

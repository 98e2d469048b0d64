import type { ChainRow } from '@muster/core/audit'
import type { ClaimedSink, SinkSecret } from '@muster/core/audit-sinks'
import type { Ctx } from '@muster/core/context'
import { decryptSinkSecrets } from '@muster/core/credentials/access'
import { assertAcceptedStatus } from '../delivery/outcome.ts'
import { type Limits, post } from '../delivery/post.ts'
import { signedJson } from '../delivery/signed-json.ts'
import { sendSyslog } from './send-syslog.ts'
import { syslogMessage } from './syslog-message.ts'

export type SinkSecrets = (ctx: Ctx, sink: ClaimedSink['sink']) => Promise<Partial<Record<SinkSecret, string>>>

type WithSecrets = { id: string; encrypted: object }

/**
 * Decrypts the secrets of an object once for each version of them. Each decryption is an audit entry, which is delivered to sinks.
 * Without this cache, every delivery would cause the next one.
 */
export function rememberSecrets<T extends WithSecrets, Secrets>(decrypt: (ctx: Ctx, object: T) => Promise<Secrets>) {
  const known = new Map<string, { encrypted: string; secrets: Promise<Secrets> }>()
  return (ctx: Ctx, object: T): Promise<Secrets> => {
    const encrypted = JSON.stringify(object.encrypted)
    const remembered = known.get(object.id)
    if (remembered?.encrypted === encrypted) return remembered.secrets
    const secrets = decrypt(ctx, object)
    known.set(object.id, { encrypted, secrets })
    secrets.catch(() => known.delete(object.id))
    return secrets
  }
}

export const rememberSinkSecrets = (): SinkSecrets => rememberSecrets(decryptSinkSecrets)

/** Delivers the claimed entries, or a test entry. @throws DeliveryError, TargetError, DomainError */
export async function sendEntries(
  ctx: Ctx,
  { sink, tenantName, entries }: ClaimedSink,
  { hostname, secretsOf, ...limits }: Limits & { hostname: string; secretsOf: SinkSecrets },
): Promise<void> {
  const isTest = entries.length === 0
  const sent = isTest ? [testEntry(ctx, sink)] : entries
  if (sink.kind === 'syslog')
    return sendSyslog(
      sink.settings,
      sent.map((entry) => syslogMessage(entry, tenantName, hostname)),
      limits,
    )
  const { url, secret, authorization } = await secretsOf(ctx, sink)
  const { id } = sent[0]!
  const request = signedJson(
    new URL(url!),
    { id, event: isTest ? 'TEST' : 'AUDIT_ENTRIES', tenant: tenantName, entries: sent },
    { id, secret: secret!, now: new Date() },
    authorization ? { authorization } : {},
  )
  assertAcceptedStatus(request.url.origin, await post(request, limits))
}

/** The entry of a test. Has the shape of a real entry, but no position in the chain. */
const testEntry = ({ tenantId, actor }: Ctx, { id, name, testRequestedAt }: ClaimedSink['sink']): ChainRow => ({
  id,
  tenantId,
  actorKind: actor.kind,
  actorId: actor.id,
  actorName: actor.name,
  sessionId: null,
  channel: 'worker',
  userAgent: null,
  address: null,
  permission: null,
  action: 'audit_sink.test',
  objectId: id,
  objectName: name,
  details: { isTest: true },
  before: null,
  after: null,
  reason: null,
  requestId: null,
  runId: null,
  outcome: 'succeeded',
  error: null,
  count: 1,
  createdAt: testRequestedAt!.toISOString(),
  seq: null,
  hash: null,
})

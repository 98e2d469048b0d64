import { auditPermissions } from '@muster/core/audit'
import { sinkWriteBlockedReason } from '@muster/core/audit-sinks'
import { builder } from '../../../builder.ts'
import { connectionTypes } from '../../shared/connections.ts'
import { upper } from '../../shared/enum-values.ts'

export const AuditSinkKind = builder.enumType('AuditSinkKind', {
  description: 'Kind of receiver of an audit sink.',
  values: upper({
    webhook: 'HTTP endpoint that receives signed JSON.',
    syslog: 'Syslog receiver over TLS: messages of RFC 5424, framed as in RFC 5425.',
  }),
})

export const AuditSink = builder.drizzleNode('auditSinks', {
  name: 'AuditSink',
  description:
    'A receiver of all audit entries of the tenant. Entries arrive in the order of the chain, at least once; their IDs are stable, so that receivers can discard duplicates.',
  authScopes: { permission: auditPermissions.read },
  select: { columns: { id: true, settings: true, encrypted: true } },
  id: { column: (sink) => sink.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the tenant.' }),
    kind: t.expose('kind', { type: AuditSinkKind, description: 'Kind of receiver.' }),
    origin: t.string({
      nullable: true,
      description: 'WEBHOOK: scheme and host of the address, because the rest is secret; null for SYSLOG.',
      resolve: ({ settings }) => settings.origin ?? null,
    }),
    hasAuthorization: t.boolean({
      description: 'WEBHOOK: whether requests have an Authorization header.',
      resolve: ({ encrypted }) => Boolean(encrypted.authorization),
    }),
    host: t.string({
      nullable: true,
      description: 'SYSLOG: name or address of the receiver; null for WEBHOOK.',
      resolve: ({ settings }) => settings.host ?? null,
    }),
    port: t.int({
      nullable: true,
      description: 'SYSLOG: TCP port; null for WEBHOOK.',
      resolve: ({ settings }) => settings.port ?? null,
    }),
    caCertificate: t.string({
      nullable: true,
      description: 'SYSLOG: the only accepted certificate authorities, in PEM; null: those that the worker trusts.',
      resolve: ({ settings }) => settings.caCertificate ?? null,
    }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether entries are delivered.' }),
    deliveredSeq: t.expose('deliveredSeq', {
      type: 'BigInt',
      description: 'Position in the chain up to which the receiver accepted all entries.',
    }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the receiver last accepted entries; null when it never did.',
    }),
    behindSince: t.expose('behindSince', {
      type: 'DateTime',
      nullable: true,
      description: 'When the oldest undelivered entry was written, if it waits for more than five minutes; else null.',
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when deliveries fail; null when the last one succeeded.',
    }),
    lastError: t.exposeString('lastError', {
      nullable: true,
      description: 'Error of the last delivery; null when it succeeded.',
    }),
    retryAt: t.expose('retryAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When a failed delivery is retried; null when none failed.',
    }),
    isTestPending: t.boolean({
      description: 'Whether a test waits for a worker.',
      select: { columns: { testRequestedAt: true } },
      resolve: ({ testRequestedAt }) => testRequestedAt !== null,
    }),
    testedAt: t.expose('testedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last test ended; null when there was none, or while one is pending.',
    }),
    testError: t.exposeString('testError', { nullable: true, description: 'Why the last test failed; null when it succeeded.' }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot change, test or delete the sink; null when allowed.',
      resolve: (_sink, _args, { ctx }) => sinkWriteBlockedReason(ctx.actor),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the sink was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the sink was last changed.' }),
  }),
})

export const sinkConnection = connectionTypes(AuditSink, 'AuditSink', 'audit sinks')

import { createAuditSink, deleteAuditSink, testAuditSink, updateAuditSink } from '@muster/core/audit-sinks'
import { Conflict, NotFound } from '@muster/core/errors'
import { globalId, rowId } from '../../shared/ids.ts'
import { type DefaultText, deletedPayload, type InputFields, keepsValue, mutation, statesDefault } from '../../shared/mutation.ts'
import { AuditSink, AuditSinkKind } from './types.ts'

const NAME = 'Name, unique in the tenant.'
const payload = { auditSink: { type: AuditSink, description: 'The sink.' } }
const id = (t: InputFields) => t.id({ required: true, description: 'ID of the sink.' })

const optionalFields = (t: InputFields, defaultText: DefaultText) => ({
  url: t.string({ description: 'WEBHOOK (required): address. Stored encrypted.' }),
  secret: t.string({ description: 'WEBHOOK (required): secret that signs requests. Stored encrypted.' }),
  authorization: t.string({
    description: `WEBHOOK: value of the Authorization header, such as \`Bearer …\`. Stored encrypted.${defaultText('no header')}`,
  }),
  host: t.string({ description: 'SYSLOG (required): name or address of the receiver, as in its certificate.' }),
  port: t.int({ description: `SYSLOG: port.${defaultText('6514')}` }),
  caCertificate: t.string({
    description: `SYSLOG: the only accepted certificate authorities, in PEM.${defaultText('those that the worker trusts')}`,
  }),
  isEnabled: t.boolean({ description: `Whether entries are delivered.${defaultText('true')}` }),
})

mutation('createAuditSink', {
  description: 'Creates an audit sink: a receiver of all audit entries.',
  input: (t) => ({
    name: t.string({ required: true, description: NAME }),
    kind: t.field({ type: AuditSinkKind, required: true, description: 'Kind of receiver.' }),
    includeExisting: t.boolean({
      description: 'Whether entries that already exist are delivered too. Default: false, only later ones.',
    }),
    ...optionalFields(t, statesDefault),
  }),
  idempotent: true,
  payload,
  errors: [Conflict],
  resolve: async (input, { ctx, deps }) => ({ auditSink: await createAuditSink(ctx, input, deps.localTargets) }),
})

mutation('updateAuditSink', {
  description:
    'Changes an audit sink. Omitted fields keep their values; null clears a field. Delivery continues after the last accepted entry, and a failing sink is retried immediately.',
  input: (t) => ({ id: id(t), name: t.string({ description: NAME }), ...optionalFields(t, keepsValue) }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async (input, { ctx, deps }) => ({
    auditSink: await updateAuditSink(
      ctx,
      // The verb rejects null for fields that cannot be cleared.
      { ...input, id: rowId('AuditSink', input.id) } as Parameters<typeof updateAuditSink>[1],
      deps.localTargets,
    ),
  }),
})

mutation('deleteAuditSink', {
  description: 'Deletes an audit sink. Its receiver gets no further entries.',
  input: (t) => ({ id: id(t) }),
  payload: deletedPayload,
  errors: [NotFound],
  resolve: async ({ id }, { ctx }) => ({
    deletedId: globalId('AuditSink', (await deleteAuditSink(ctx, { id: rowId('AuditSink', id) })).id),
  }),
})

mutation('testAuditSink', {
  description:
    'Sends a test entry to an audit sink, even if it is disabled. A worker tries once and records the result in `testedAt` and `testError` of the sink.',
  input: (t) => ({ id: id(t) }),
  idempotent: true,
  payload,
  errors: [NotFound],
  resolve: async ({ id, idempotencyKey }, { ctx }) => ({
    auditSink: await testAuditSink(ctx, { id: rowId('AuditSink', id), idempotencyKey }),
  }),
})

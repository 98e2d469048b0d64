import { triggerWriteBlockedReason, type TriggerVariable as Variable } from '@muster/core/triggers'
import { builder } from '../../builder.ts'
import { actorField, ownerField } from '../access/people.ts'
import { RunSettings } from '../runs/setting-fields.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { TriggerDeliveryOutcome, TriggerSignature } from './enums.ts'

const TriggerVariable = builder.objectRef<Variable>('TriggerVariable').implement({
  description: 'An extra var with a value from the body of a request.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name of the extra var.' }),
    path: t.exposeString('path', { description: 'JSON Pointer (RFC 6901) to the value, such as `/alerts/0/labels/instance`.' }),
    isRequired: t.exposeBoolean('isRequired', { description: 'Whether a request without the value is rejected.' }),
  }),
})

export const TriggerDelivery = builder.drizzleNode('triggerDeliveries', {
  name: 'TriggerDelivery',
  description: 'A request to a trigger with a valid signature. Its body is not stored.',
  select: { columns: { id: true } },
  id: { column: (delivery) => delivery.id },
  fields: (t) => ({
    outcome: t.expose('outcome', { type: TriggerDeliveryOutcome, description: 'Result.' }),
    message: t.exposeString('message', {
      nullable: true,
      description: 'Why no run was started, or which nodes the run leaves out and why.',
    }),
    repeatCount: t.exposeInt('repeatCount', { description: 'How often the request was repeated. Repeats start nothing.' }),
    bodyHash: t.exposeString('bodyHash', { description: 'SHA-256 of the body in hexadecimal digits.' }),
    address: t.exposeString('address', { nullable: true, description: 'Network address of the sender; null when unknown.' }),
    receivedAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was received.' }),
    run: t.relation('run', {
      nullable: true,
      description: 'The run; null when none was started, or retention has deleted it.',
    }),
  }),
})

const deliveryConnection = connectionTypes(TriggerDelivery, 'TriggerDelivery', 'requests to a trigger')

export const Trigger = builder.drizzleNode('triggers', {
  name: 'Trigger',
  description:
    'A webhook: signed requests to its URL start runs of a job template, with the permissions that its owner has then.',
  select: { columns: { id: true } },
  id: { column: (trigger) => trigger.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the tenant.' }),
    description: t.exposeString('description', { description: 'Description.' }),
    url: t.string({
      description: 'Address for POST requests with a JSON body of at most 1 MiB.',
      resolve: ({ id }, _args, { deps }) => new URL(`/api/triggers/${id}`, deps.publicUrl).href,
    }),
    template: t.relation('template', { description: 'The job template of the runs.' }),
    limit: t.exposeString('limit', { description: 'Selector of the nodes, resolved at each request.' }),
    nodesPath: t.exposeString('nodesPath', {
      nullable: true,
      description:
        'JSON Pointer to a hostlist or a list of node names in the body, which must all match `limit`. Null: all nodes of `limit`.',
    }),
    settings: t.expose('settings', { type: RunSettings, description: 'Fixed launch settings of the runs.' }),
    variables: t.expose('variables', {
      type: [TriggerVariable],
      description: 'Extra vars with values from the body, at most 50. All other values of the body are ignored.',
    }),
    signature: t.expose('signature', { type: TriggerSignature, description: 'How requests are signed.' }),
    secretCreatedAt: t.expose('secretCreatedAt', { type: 'DateTime', description: 'When the secret was created or rotated.' }),
    maxPerHour: t.exposeInt('maxPerHour', { description: 'More requests in an hour are rejected. Repeats do not count.' }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether requests are accepted.' }),
    deliveries: t.relatedConnection(
      'deliveries',
      { description: 'Requests, newest first.', totalCount: true, query: { orderBy: { id: 'desc' } }, ...PAGED },
      ...deliveryConnection,
    ),
    owner: t.field(
      ownerField('User or API token that last changed it or rotated its secret. Runs have the permissions of the owner.'),
    ),
    createdBy: t.field(actorField('created', 'Actor that created it.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot change or delete it, or rotate its secret; null when allowed.',
      select: { columns: { name: true, ownerId: true } },
      resolve: (trigger, _args, { ctx }) => triggerWriteBlockedReason(ctx.actor, trigger),
    }),
  }),
})

export const triggerConnection = connectionTypes(Trigger, 'Trigger', 'triggers')

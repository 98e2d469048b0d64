import type { PreflightStage as Stage } from '@muster/core/connections'
import { fingerprint } from '@muster/core/nodes'
import { builder } from '../../builder.ts'
import { ComputeNode } from '../nodes/types.ts'
import { globalId } from '../shared/ids.ts'
import { PreflightStageName, PreflightState } from './enums.ts'

const OfferedKey = builder.objectRef<NonNullable<Stage['offeredKey']>>('OfferedKey').implement({
  description: 'A host key that was offered during a connection test.',
  fields: (t) => ({
    objectId: t.id({
      description: 'ID of the ComputeNode, or of the Credential of a bastion, that offered the key.',
      resolve: (key) => globalId(key.objectType, key.objectId),
    }),
    fingerprint: t.string({
      description: 'Fingerprint, `SHA256:…`.',
      resolve: (key) => key.fingerprint || fingerprint(key.key),
    }),
    key: t.exposeString('key', { description: 'Public key: type and base64.' }),
    isChanged: t.boolean({
      description: 'Whether it differs from the approved key; false when none is approved.',
      resolve: (key) => key.changed,
    }),
  }),
})

const PreflightStage = builder.objectRef<Stage>('PreflightStage').implement({
  description: 'Result of one stage of a connection test.',
  fields: (t) => ({
    stage: t.expose('stage', { type: PreflightStageName, description: 'Stage.' }),
    hop: t.exposeString('hop', { nullable: true, description: 'Name of the bastion; null for the node itself.' }),
    state: t.expose('state', { type: PreflightState, description: 'Result.' }),
    durationMs: t.int({ description: 'Duration in ms.', resolve: (stage) => Math.round(stage.durationMs) }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'Observed value: an address, banner, fingerprint or version.',
    }),
    hint: t.exposeString('hint', { nullable: true, description: 'Next step after a failure.' }),
    offeredKey: t.field({
      type: OfferedKey,
      nullable: true,
      description: 'HOST_KEY only: offered key.',
      resolve: (stage) => stage.offeredKey ?? null,
    }),
  }),
})

export const ConnectionTest = builder.drizzleNode('connectionTests', {
  name: 'ConnectionTest',
  description: 'A connection test of a node.',
  select: { columns: { id: true } },
  id: { column: (test) => test.id, description: 'Connection test ID.' },
  fields: (t) => ({
    node: t.relation('node', { description: 'Tested node.' }),
    credential: t.relation('credential', {
      nullable: true,
      description: 'Credential that is tested instead of the credential of the node; null when the node is tested unchanged.',
    }),
    stages: t.field({
      type: [PreflightStage],
      description: 'Finished stages in order, those of bastions first. At most 9 per hop.',
      select: { columns: { stages: true } },
      resolve: (test) => test.stages,
    }),
    isOk: t.exposeBoolean('isOk', { nullable: true, description: 'Whether all stages succeeded; null while unfinished.' }),
    error: t.exposeString('error', { nullable: true, description: 'Reason of the failure; null otherwise.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the request.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'Time of the start.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'Time of the end.' }),
  }),
})

builder.drizzleObjectFields(ComputeNode, (t) => ({
  latestConnectionTest: t.field({
    type: ConnectionTest,
    nullable: true,
    description: 'Latest connection test, finished or not; null when there is none.',
    select: (_args, _context, nested) => ({ with: { connectionTests: nested({ limit: 1, orderBy: { id: 'desc' } }) } }),
    resolve: (n) => n.connectionTests[0] ?? null,
  }),
}))

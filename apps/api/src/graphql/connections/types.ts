import type { PreflightStage as Stage } from '@muster/core/connections'
import { fingerprint } from '@muster/core/nodes'
import { builder } from '../../builder.ts'
import { ComputeNode } from '../nodes/types.ts'
import { globalId } from '../shared/ids.ts'
import { PreflightStageName, PreflightState } from './enums.ts'

const OfferedKey = builder.objectRef<NonNullable<Stage['offeredKey']>>('OfferedKey').implement({
  description: 'A host key that was offered during a test and may have to be approved.',
  fields: (t) => ({
    objectId: t.id({
      description: 'Id of the ComputeNode, or of the Credential of a bastion, for which it must be approved.',
      resolve: (key) => globalId(key.objectType, key.objectId),
    }),
    fingerprint: t.string({
      description: 'Its fingerprint, `SHA256:…`.',
      resolve: (key) => key.fingerprint || fingerprint(key.key),
    }),
    key: t.exposeString('key', { description: 'The key itself, type and base64.' }),
    isChanged: t.boolean({
      description: 'Whether it differs from the approved key; false: none is approved yet.',
      resolve: (key) => key.changed,
    }),
  }),
})

const PreflightStage = builder.objectRef<Stage>('PreflightStage').implement({
  description: 'One stage of a connection test.',
  fields: (t) => ({
    stage: t.expose('stage', { type: PreflightStageName, description: 'Which stage it is.' }),
    hop: t.exposeString('hop', { nullable: true, description: 'Name of the bastion it was on; null: the node itself.' }),
    state: t.expose('state', { type: PreflightState, description: 'How it ended.' }),
    durationMs: t.int({ description: 'How long it took, in ms.', resolve: (stage) => Math.round(stage.durationMs) }),
    detail: t.exposeString('detail', {
      nullable: true,
      description: 'What was seen: an address, a banner, a fingerprint, a version.',
    }),
    hint: t.exposeString('hint', { nullable: true, description: 'What to do next, when it failed.' }),
    offeredKey: t.field({
      type: OfferedKey,
      nullable: true,
      description: 'HOST_KEY only: the key that was offered.',
      resolve: (stage) => stage.offeredKey ?? null,
    }),
  }),
})

export const ConnectionTest = builder.drizzleNode('connectionTests', {
  name: 'ConnectionTest',
  description: 'How far one gets on the way to a node, stage by stage.',
  select: { columns: { id: true } },
  id: { column: (test) => test.id },
  fields: (t) => ({
    node: t.relation('node', { description: 'The node that is tested.' }),
    credential: t.relation('credential', {
      nullable: true,
      description: "The credential that is tried in place of the node's own; null: the node is tested as it is.",
    }),
    stages: t.field({
      type: [PreflightStage],
      description: 'The stages that are over, in their order, those of bastions first.',
      select: { columns: { stages: true } },
      resolve: (test) => test.stages,
    }),
    isOk: t.exposeBoolean('isOk', { nullable: true, description: 'Whether all went well; null until it is over.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it could not be carried out.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When a worker began with it.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'When it was over.' }),
  }),
})

builder.drizzleObjectFields(ComputeNode, (t) => ({
  latestConnectionTest: t.field({
    type: ConnectionTest,
    nullable: true,
    description: 'The connection test asked for last, whether it is over or not.',
    select: (_args, _context, nested) => ({ with: { connectionTests: nested({ limit: 1, orderBy: { id: 'desc' } }) } }),
    resolve: (n) => n.connectionTests[0] ?? null,
  }),
}))

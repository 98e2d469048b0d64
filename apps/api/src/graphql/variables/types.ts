import { isOneOf } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import {
  changesBetween,
  type compareVars,
  type EffectiveVar,
  effectiveVars,
  setVarsBlockedReason,
  type VarChange,
  type VarEntry,
  type VariableVersion,
  type VarsImpact,
} from '@muster/core/variables'
import { and, eq, inArray } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { NodeGroup } from '../groups/types.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { rowIdIfGiven } from '../shared/ids.ts'
import { loader } from '../shared/loaders.ts'
import { VarChangeKind, VarLayer, VarMerge } from './enums.ts'

const { variableVersions } = schema

const SECRETS = 'Names of its secret variables; their values are never given out.'

/** Of one layer, and so also the common part of a variable that holds. */
const VarEntryType = builder.objectRef<VarEntry>('VarEntry').implement({
  description: 'What one layer says of a variable.',
  fields: (t) => ({
    value: t.expose('value', { type: 'JSON', nullable: true, description: 'Its value; null also for a secret.' }),
    isSecret: t.boolean({ description: 'Whether it is set, but not shown.', resolve: (entry) => entry.secretId !== null }),
    layer: t.expose('layer', { type: VarLayer, description: 'The layer.' }),
    group: t.exposeString('group', { nullable: true, description: 'Name of the group, in the layer of groups.' }),
  }),
})

export const EffectiveVarType = builder.objectRef<EffectiveVar>('EffectiveVar').implement({
  description: 'A variable that holds on a node, and why.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    value: t.expose('value', { type: 'JSON', nullable: true, description: 'The value that holds; null also for a secret.' }),
    isSecret: t.boolean({ description: 'Whether it is set, but not shown.', resolve: (each) => each.secretId !== null }),
    layer: t.expose('layer', { type: VarLayer, description: 'The nearest layer that says something of it.' }),
    group: t.exposeString('group', { nullable: true, description: 'Name of that group, in the layer of groups.' }),
    overridden: t.expose('overridden', { type: [VarEntryType], description: 'What the layers below say of it, nearest first.' }),
  }),
})

const VarChangeType = builder.objectRef<VarChange>('VarChange').implement({
  description: 'What a version changed of one variable.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    change: t.expose('change', { type: VarChangeKind, description: 'What became of it.' }),
    before: t.expose('before', { type: 'JSON', nullable: true, description: 'Its value before; null also for a secret.' }),
    after: t.expose('after', { type: 'JSON', nullable: true, description: 'Its value since; null also for a secret.' }),
    isSecret: t.exposeBoolean('isSecret', { description: 'Whether it is a secret variable.' }),
  }),
})

/** The version before one, by `scope version`. */
const versionBefore = loader<VariableVersion>(async ({ ctx }, keys) => {
  const places = keys.map((key) => key.split(' ') as [string, string])
  const scopes = isOneOf(
    variableVersions.scopeId,
    places.map(([scope]) => scope),
  )
  const numbers = places.map(([, version]) => Number(version) - 1)
  const rows = await ctx.db
    .select()
    .from(variableVersions)
    .where(and(eq(variableVersions.tenantId, ctx.tenantId), scopes, inArray(variableVersions.version, numbers)))
  return new Map(rows.map((row) => [`${row.scopeId} ${row.version + 1}`, row]))
})

const VariableVersionType = builder.drizzleObject('variableVersions', {
  name: 'VariableVersion',
  description: 'What the variables of all nodes, a group or a node were at one time.',
  select: { columns: { id: true } },
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Its number, from 1.' }),
    text: t.exposeString('source', { description: 'The YAML or JSON as it was typed.' }),
    secretNames: t.stringList({
      description: SECRETS,
      select: { columns: { secrets: true } },
      resolve: ({ secrets }) => Object.keys(secrets).sort(),
    }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it was changed, in the words of who did.' }),
    createdByName: t.exposeString('createdByName', { description: 'Who changed it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
    changes: t.field({
      type: [VarChangeType],
      description: 'What it changed of the version before.',
      select: { columns: { scopeId: true, version: true, vars: true, secrets: true } },
      resolve: async (after, _args, context) =>
        changesBetween(await versionBefore(context, `${after.scopeId} ${after.version}`), after),
    }),
  }),
})

const versionConnection = connectionTypes(VariableVersionType, 'VariableVersion', 'versions')

export const VariableScope = builder.drizzleNode('variableScopes', {
  name: 'VariableScope',
  description: 'The variables of all nodes, of a group or of a node.',
  select: { columns: { id: true } },
  id: { column: (scope) => scope.id },
  fields: (t) => ({
    group: t.relation('group', { nullable: true, description: 'The group whose variables they are.' }),
    node: t.relation('node', { nullable: true, description: 'The node whose variables they are.' }),
    text: t.exposeString('source', { description: 'YAML or JSON as it was typed, with its comments.' }),
    vars: t.expose('vars', { type: 'JSON', description: 'What the text says, as an object.' }),
    secretNames: t.stringList({
      description: SECRETS,
      select: { columns: { secrets: true } },
      resolve: ({ secrets }) => Object.keys(secrets).sort(),
    }),
    version: t.exposeInt('version', { description: 'The number of this version; a change says which one it is based on.' }),
    updatedByName: t.exposeString('updatedByName', { description: 'Who changed them last.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When that was.' }),
    writeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not change them; null: allowed.',
      resolve: (_scope, _args, { ctx }) => setVarsBlockedReason(ctx.actor),
    }),
    versions: t.relatedConnection(
      'versions',
      { description: 'What they were, the newest first.', query: { orderBy: { version: 'desc' } }, totalCount: true, ...PAGED },
      ...versionConnection,
    ),
  }),
})

export const NEVER = 'null: none were ever set, so a first change is based on version 0.'

builder.drizzleObjectField(NodeGroup, 'vars', (t) =>
  t.relation('variables', { nullable: true, description: `Variables of its nodes; ${NEVER}` }),
)

const effective = loader(({ ctx }, ids) => effectiveVars(ctx, [...ids]))

builder.drizzleObjectFields(ComputeNode, (t) => ({
  vars: t.relation('variables', { nullable: true, description: `Variables of this node alone; ${NEVER}` }),
  effectiveVars: t.field({
    type: [EffectiveVarType],
    description: 'The variables that hold on it by all layers but the run, by name.',
    args: { names: t.arg.stringList({ description: 'Only these.' }) },
    select: { columns: { id: true } },
    resolve: async (node, { names }, context) =>
      ((await effective(context, node.id)) ?? [])
        .filter((each) => !names || names.includes(each.name))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
  }),
}))

export const VarComparison = builder.objectRef<Awaited<ReturnType<typeof compareVars>>[0]>('VarComparison').implement({
  description: 'One variable on two nodes.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    left: t.expose('left', { type: EffectiveVarType, nullable: true, description: 'On the one; null: not set.' }),
    right: t.expose('right', { type: EffectiveVarType, nullable: true, description: 'On the other; null: not set.' }),
    isSame: t.exposeBoolean('isSame', { description: 'Whether both have the same value, wherever it comes from.' }),
  }),
})

type ImpactOfVar = VarsImpact['vars'][0]

const VarImpactExample = builder.objectRef<ImpactOfVar['examples'][0]>('VarImpactExample').implement({
  description: 'One of the nodes on which a variable would change.',
  fields: (t) => ({
    node: t.exposeString('node', { description: 'Name of the node.' }),
    before: t.expose('before', { type: EffectiveVarType, nullable: true, description: 'As it is; null: not set.' }),
    after: t.expose('after', { type: EffectiveVarType, nullable: true, description: 'As it would be; null: not set.' }),
  }),
})

const VarImpact = builder.objectRef<ImpactOfVar>('VarImpact').implement({
  description: 'What an edit would change of one variable.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    nodeCount: t.exposeInt('nodes', { description: 'On how many nodes its value would be another.' }),
    examples: t.expose('examples', { type: [VarImpactExample], description: 'Some of them, at most 5.' }),
  }),
})

export const VarsImpactType = builder.objectRef<VarsImpact>('VarsImpact').implement({
  description: 'What an edit of variables would change.',
  fields: (t) => ({
    nodeCount: t.exposeInt('nodes', { description: 'How many nodes the variables are for.' }),
    changedCount: t.exposeInt('changed', { description: 'On how many of them a value would be another.' }),
    vars: t.expose('vars', { type: [VarImpact], description: 'The variables that would change, by name.' }),
  }),
})

export const VarSettings = builder.objectRef<{ varMerge: 'replace' | 'deep' }>('VarSettings').implement({
  description: "The tenant's settings of variables.",
  fields: (t) => ({
    merge: t.expose('varMerge', { type: VarMerge, description: 'What becomes of dictionaries that several layers give.' }),
  }),
})

/** Arguments that say whose variables. */
export const PLACE_OF = {
  groupId: 'Of this group. Left out along with `nodeId`: of all nodes.',
  nodeId: 'Of this node.',
}

type PlaceIds = { groupId?: string | null; nodeId?: string | null }

export const placeOf = ({ groupId, nodeId }: PlaceIds) => ({
  groupId: rowIdIfGiven('NodeGroup', groupId),
  nodeId: rowIdIfGiven('ComputeNode', nodeId),
})

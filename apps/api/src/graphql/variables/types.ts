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
import { actorField } from '../access/people.ts'
import { NodeGroup } from '../groups/types.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { rowIdIfGiven } from '../shared/ids.ts'
import { loader } from '../shared/loaders.ts'
import { VarChangeKind, VarLayer, VarMerge } from './enums.ts'

const { variableVersions } = schema

type Value = { value: unknown; isSecret: boolean }

const VarValue = builder.objectRef<Value>('VarValue').implement({
  description: 'Value of a variable.',
  fields: (t) => ({
    json: t.expose('value', {
      type: 'JSON',
      nullable: true,
      description: 'The value: any YAML value as JSON. Null also for a secret variable.',
    }),
    isSecret: t.exposeBoolean('isSecret', { description: 'Whether the variable is secret; its value is never returned.' }),
  }),
})

const toValue = ({ value, secretId }: { value: unknown; secretId: string | null }): Value => ({
  value,
  isSecret: secretId !== null,
})

type NamedValue = Value & { name: string }

export const Variable = builder.objectRef<NamedValue>('Variable').implement({
  description: 'A variable and its value.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name.' }),
    value: t.field({ type: VarValue, description: 'Value.', resolve: (variable) => variable }),
  }),
})

/** Variables and the names of secret ones, ordered by name. */
export const namedValues = (vars: object, secretNames: string[]): NamedValue[] =>
  [
    ...Object.entries(vars).map(([name, value]) => ({ name, value: value as unknown, isSecret: false })),
    ...secretNames.map((name) => ({ name, value: null, isSecret: true })),
  ].sort((a, b) => (a.name < b.name ? -1 : 1))

const VarEntryType = builder.objectRef<VarEntry>('VarEntry').implement({
  description: 'Value of a variable in one layer.',
  fields: (t) => ({
    value: t.field({ type: VarValue, description: 'Value.', resolve: toValue }),
    layer: t.expose('layer', { type: VarLayer, description: 'The layer.' }),
    group: t.exposeString('group', { nullable: true, description: 'Name of the group; null in other layers.' }),
  }),
})

export const EffectiveVarType = builder.objectRef<EffectiveVar>('EffectiveVar').implement({
  description: 'Effective value of a variable on a node, and where it comes from.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name.' }),
    value: t.field({ type: VarValue, description: 'Effective value.', resolve: toValue }),
    layer: t.expose('layer', { type: VarLayer, description: 'The layer with the highest precedence that sets the variable.' }),
    group: t.exposeString('group', { nullable: true, description: 'Name of the group; null in other layers.' }),
    overridden: t.expose('overridden', {
      type: [VarEntryType],
      description: 'Values in layers with lower precedence, highest first. At most one per layer and group.',
    }),
  }),
})

const VarChangeType = builder.objectRef<VarChange>('VarChange').implement({
  description: 'Change of one variable in a version.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name.' }),
    change: t.expose('change', { type: VarChangeKind, description: 'Kind of the change.' }),
    before: t.field({
      type: VarValue,
      nullable: true,
      description: 'Value before the version; null when the variable was not set.',
      resolve: ({ change, before, isSecret }) => (change === 'ADDED' ? null : { value: before, isSecret }),
    }),
    after: t.field({
      type: VarValue,
      nullable: true,
      description: 'Value since the version; null when the variable is no longer set.',
      resolve: ({ change, after, isSecret }) => (change === 'REMOVED' ? null : { value: after, isSecret }),
    }),
  }),
})

/** The previous version, by `scope version`. */
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

const varsField = {
  type: [Variable] as [typeof Variable],
  description: 'The variables, including secret ones, ordered by name. One per name; the total size is at most 256 KiB.',
  select: { columns: { vars: true, secrets: true } } as const,
  resolve: ({ vars, secrets }: { vars: object; secrets: object }) => namedValues(vars, Object.keys(secrets)),
}

const VariableVersionType = builder.drizzleObject('variableVersions', {
  name: 'VariableVersion',
  description: 'A version of the variables of all nodes, a group or a node.',
  select: { columns: { id: true } },
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Version number, from 1.' }),
    text: t.exposeString('source', { description: 'The YAML or JSON as it was entered.' }),
    vars: t.field(varsField),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Why the variables were changed; null when no reason was given.',
    }),
    createdBy: t.field(actorField('created', 'Actor that changed the variables.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the variables were changed.' }),
    changes: t.field({
      type: [VarChangeType],
      description: 'Changes since the previous version, ordered by name. At most one per variable.',
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
    group: t.relation('group', { nullable: true, description: 'The group; null for other scopes.' }),
    node: t.relation('node', { nullable: true, description: 'The node; null for other scopes.' }),
    text: t.exposeString('source', {
      description: 'YAML or JSON as it was entered, with its comments. Secret variables are not part of it.',
    }),
    vars: t.field(varsField),
    version: t.exposeInt('version', { description: 'Current version. Pass it as `basedOn` to change the variables.' }),
    updatedBy: t.field(actorField('updated', 'Actor that changed the variables last.')),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the variables were changed last.' }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot change the variables; null when allowed.',
      resolve: (_scope, _args, { ctx }) => setVarsBlockedReason(ctx.actor),
    }),
    versions: t.relatedConnection(
      'versions',
      { description: 'Versions, newest first.', query: { orderBy: { version: 'desc' } }, totalCount: true, ...PAGED },
      ...versionConnection,
    ),
  }),
})

export const NEVER = 'null when none were ever set; the first change is based on version 0.'

builder.drizzleObjectField(NodeGroup, 'vars', (t) =>
  t.relation('variables', { nullable: true, description: `Variables of the nodes of the group; ${NEVER}` }),
)

const effective = loader(({ ctx }, ids) => effectiveVars(ctx, [...ids]))

builder.drizzleObjectFields(ComputeNode, (t) => ({
  vars: t.relation('variables', { nullable: true, description: `Variables of this node; ${NEVER}` }),
  effectiveVars: t.field({
    type: [EffectiveVarType],
    description: 'Effective variables from all layers except the run, ordered by name. Each layer has at most 256 KiB.',
    args: { names: t.arg.stringList({ description: 'Only variables with these names; at most 500.' }) },
    select: { columns: { id: true } },
    resolve: async (node, { names }, context) =>
      ((await effective(context, node.id)) ?? [])
        .filter((each) => !names || names.includes(each.name))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
  }),
}))

export const VarComparison = builder.objectRef<Awaited<ReturnType<typeof compareVars>>[0]>('VarComparison').implement({
  description: 'Comparison of a variable on two nodes.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name.' }),
    left: t.expose('left', {
      type: EffectiveVarType,
      nullable: true,
      description: 'On the first node; null when it is not set.',
    }),
    right: t.expose('right', {
      type: EffectiveVarType,
      nullable: true,
      description: 'On the second node; null when it is not set.',
    }),
    isSame: t.exposeBoolean('isSame', { description: 'Whether both nodes have the same value.' }),
  }),
})

type ImpactOfVar = VarsImpact['vars'][0]

const VarImpactExample = builder.objectRef<ImpactOfVar['examples'][0]>('VarImpactExample').implement({
  description: 'A node on which the value of a variable would change.',
  fields: (t) => ({
    nodeName: t.exposeString('node', { description: 'Name of the node.' }),
    before: t.expose('before', {
      type: EffectiveVarType,
      nullable: true,
      description: 'Current value; null when it is not set.',
    }),
    after: t.expose('after', {
      type: EffectiveVarType,
      nullable: true,
      description: 'New value; null when it would not be set.',
    }),
  }),
})

const VarImpact = builder.objectRef<ImpactOfVar>('VarImpact').implement({
  description: 'Effect of an edit on one variable.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name.' }),
    nodeCount: t.exposeInt('nodes', { description: 'Number of nodes on which its value would change.' }),
    examples: t.expose('examples', { type: [VarImpactExample], description: 'Examples. At most 5.' }),
  }),
})

export const VarsImpactType = builder.objectRef<VarsImpact>('VarsImpact').implement({
  description: 'Effect of an edit of variables.',
  fields: (t) => ({
    nodeCount: t.exposeInt('nodes', { description: 'Number of nodes to which the variables apply.' }),
    changedCount: t.exposeInt('changed', { description: 'Number of nodes on which a value would change.' }),
    vars: t.expose('vars', {
      type: [VarImpact],
      description: 'Variables that would change, ordered by name. At most one per name.',
    }),
  }),
})

export const VarSettings = builder.objectRef<{ varMerge: 'replace' | 'deep' }>('VarSettings').implement({
  description: 'Settings of the tenant for variables.',
  fields: (t) => ({
    merge: t.expose('varMerge', { type: VarMerge, description: 'How dictionaries of several layers are merged.' }),
  }),
})

/** Descriptions of the arguments that select a scope. */
export const PLACE_OF = {
  groupId: 'Variables of this group. Without `groupId` and `nodeId`: of all nodes.',
  nodeId: 'Variables of this node.',
}

type PlaceIds = { groupId?: string | null; nodeId?: string | null }

export const placeOf = ({ groupId, nodeId }: PlaceIds) => ({
  groupId: rowIdIfGiven('NodeGroup', groupId),
  nodeId: rowIdIfGiven('ComputeNode', nodeId),
})

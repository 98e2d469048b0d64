import {
  acceptUnknownMachineBlockedReason,
  type BootDuration as Duration,
  type BootFetch as Fetch,
  type BootPreview as Preview,
  previewBoots,
  readDhcpConfig,
  rejectUnknownMachineBlockedReason,
  stuckAt,
  type TimelineEntry,
  timelineOf,
  writeBootRuleBlockedReason,
} from '@muster/core/boot-service'
import { isOneOf } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { eq } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import type { ApiContext } from '../../context.ts'
import { bootUrlsOf } from '../../http/boot/config.ts'
import { actorField, nullableActorField } from '../access/people.ts'
import { BootArch, BootProfileSource } from '../boot-profiles/types.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { BootCause, BootFetchKind, BootStage, BootState, UnknownMachineState } from './enums.ts'

const { bootFetches, bootStageTimes, tenants } = schema
const MAX_FETCHES = 100

const UnknownMachineInterface = builder.objectRef<{ name: string; mac: string }>('UnknownMachineInterface').implement({
  description: 'Network interface that the firmware reported.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name.' }),
    mac: t.exposeString('mac', { description: 'MAC address.' }),
  }),
})

export const UnknownMachine = builder.drizzleNode('unknownMachines', {
  name: 'UnknownMachine',
  description: 'A machine that asked for a boot script with a MAC that no node has. All its values can be forged.',
  select: { columns: { id: true, mac: true, state: true } },
  id: { column: (machine) => machine.id },
  fields: (t) => ({
    mac: t.exposeString('mac', { description: 'MAC address with which it asked.' }),
    state: t.expose('state', { type: UnknownMachineState, description: 'Decision.' }),
    arch: t.exposeString('arch', { nullable: true, description: 'Architecture that it reported.' }),
    serial: t.exposeString('serial', { nullable: true, description: 'Serial number that it reported.' }),
    systemUuid: t.exposeString('systemUuid', { nullable: true, description: 'UUID of the system that it reported.' }),
    interfaces: t.expose('interfaces', {
      type: [UnknownMachineInterface],
      description: 'Interfaces that it reported; at most 16.',
    }),
    seenFrom: t.exposeString('seenFrom', { nullable: true, description: 'Address of its last request; only a hint.' }),
    requests: t.exposeInt('requests', { description: 'Number of requests.' }),
    firstSeenAt: t.expose('firstSeenAt', { type: 'DateTime', description: 'When it asked first.' }),
    lastSeenAt: t.expose('lastSeenAt', { type: 'DateTime', description: 'When it asked last.' }),
    node: t.relation('node', { nullable: true, description: 'The node that it became.' }),
    acceptedAt: t.expose('acceptedAt', { type: 'DateTime', nullable: true, description: 'When it was accepted.' }),
    acceptedBy: t.field(nullableActorField('accepted', 'Who accepted it.')),
    rejectedAt: t.expose('rejectedAt', { type: 'DateTime', nullable: true, description: 'When it was rejected.' }),
    rejectedBy: t.field(nullableActorField('rejected', 'Who rejected it.')),
    rejectedReason: t.exposeString('rejectedReason', { nullable: true, description: 'Why it was rejected.' }),
    acceptBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot accept it; null when allowed.',
      resolve: (machine, _args, { ctx }) => acceptUnknownMachineBlockedReason(ctx.actor, machine),
    }),
    rejectBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot reject it; null when allowed.',
      resolve: (machine, _args, { ctx }) => rejectUnknownMachineBlockedReason(ctx.actor, machine),
    }),
  }),
})
export const unknownMachineConnection = connectionTypes(UnknownMachine, 'UnknownMachine', 'unknown machines')

const CONDITION = 'at most 100. Null: any'
export const BootRule = builder.drizzleNode('bootRules', {
  name: 'BootRule',
  description: 'A rule that accepts unknown machines as new nodes. Machines can report false values.',
  select: { columns: { id: true, match: true } },
  id: { column: (rule) => rule.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the tenant. It never changes.' }),
    priority: t.exposeInt('priority', { description: 'If several rules match, the lowest number decides, then the name.' }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether it accepts machines.' }),
    macPrefixes: t.stringList({
      nullable: true,
      description: `Prefixes of the boot MAC; ${CONDITION}.`,
      resolve: ({ match }) => match.macPrefixes,
    }),
    interfaceMacPrefixes: t.stringList({
      nullable: true,
      description: `MAC prefixes that at least one interface must match; ${CONDITION}.`,
      resolve: ({ match }) => match.interfaceMacPrefixes,
    }),
    serials: t.stringList({
      nullable: true,
      description: `Patterns of serial numbers, with \`*\` for any text; ${CONDITION}.`,
      resolve: ({ match }) => match.serials,
    }),
    systemUuids: t.stringList({
      nullable: true,
      description: `Patterns of system UUIDs, with \`*\` for any text; ${CONDITION}.`,
      resolve: ({ match }) => match.systemUuids,
    }),
    arch: t.field({
      type: BootArch,
      nullable: true,
      description: 'Architecture; null: any.',
      resolve: ({ match }) => match.arch,
    }),
    names: t.exposeString('names', { description: 'Hostlist of node names. A machine gets the first unused name.' }),
    group: t.relation('group', { nullable: true, description: 'Group that the nodes become members of.' }),
    profile: t.relation('profile', { nullable: true, description: 'Boot profile that is assigned to the nodes.' }),
    maxAccepted: t.exposeInt('maxAccepted', { description: 'Maximum number of machines that it accepts.' }),
    accepted: t.exposeInt('accepted', { description: 'Number of machines that it has accepted.' }),
    lastAcceptedAt: t.expose('lastAcceptedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it last accepted a machine; null before the first.',
    }),
    problem: t.exposeString('problem', {
      nullable: true,
      description: 'Why it could not accept the last machine that matched; null when it could.',
    }),
    createdBy: t.field(actorField('created', 'Actor that created it.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedBy: t.field(actorField('updated', 'Actor that changed it last.')),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it was last changed.' }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot change or delete it; null when allowed.',
      resolve: (_rule, _args, { ctx }) => writeBootRuleBlockedReason(ctx.actor),
    }),
  }),
})
export const bootRuleConnection = connectionTypes(BootRule, 'BootRule', 'boot rules')

const BootTimelineEntry = builder.objectRef<TimelineEntry>('BootTimelineEntry').implement({
  description: 'A stage that a boot reached.',
  fields: (t) => ({
    stage: t.expose('stage', { type: BootStage, description: 'Stage.' }),
    reachedAt: t.expose('reachedAt', { type: 'DateTime', description: 'When it was reached.' }),
    durationMs: t.exposeFloat('durationMs', {
      nullable: true,
      description: 'Time since the stage before in ms; null for the first.',
    }),
  }),
})

const BootStuck = builder.objectRef<NonNullable<ReturnType<typeof stuckAt>>>('BootStuck').implement({
  description: 'The stage after which a boot does not progress.',
  fields: (t) => ({
    stage: t.expose('stage', { type: BootStage, description: 'The last stage that was reached.' }),
    since: t.expose('since', { type: 'DateTime', description: 'When it was reached.' }),
  }),
})

const BootFetch = builder.objectRef<Fetch>('BootFetch').implement({
  description: 'What a node fetched in a boot. Equal fetches are one, with a count.',
  fields: (t) => ({
    kind: t.expose('kind', { type: BootFetchKind, description: 'What was fetched.' }),
    hash: t.exposeString('hash', { description: 'SHA-256 of the content without the token, in hexadecimal.' }),
    profile: t.exposeString('profile', {
      nullable: true,
      description:
        'Name of the boot profile, after the names and versions of those that are merged with it (`site v2 + compute`); null without one.',
    }),
    profileVersion: t.exposeInt('profileVersion', { nullable: true, description: 'Version of the boot profile.' }),
    hasToken: t.exposeBoolean('hasToken', { description: 'Whether the content had the token of the boot.' }),
    refusal: t.exposeString('refusal', { nullable: true, description: 'Why user-data had no token; null when it had one.' }),
    count: t.exposeInt('count', { description: 'Number of fetches.' }),
    firstAt: t.expose('firstAt', { type: 'DateTime', description: 'First fetch.' }),
    lastAt: t.expose('lastAt', { type: 'DateTime', description: 'Last fetch.' }),
    address: t.exposeString('address', { nullable: true, description: 'Address of the last fetch; it can be forged.' }),
  }),
})

const stageTimesOf = loader<(typeof bootStageTimes.$inferSelect)[]>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select()
    .from(bootStageTimes)
    .where(isOneOf(bootStageTimes.attemptId, [...ids]))
  return Map.groupBy(rows, ({ attemptId }) => attemptId)
})

const fetchesOf = loader<Fetch[]>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select()
    .from(bootFetches)
    .where(isOneOf(bootFetches.attemptId, [...ids]))
    .orderBy(bootFetches.id)
  return Map.groupBy(rows, ({ attemptId }) => attemptId)
})

export const BootAttempt = builder.drizzleNode('bootAttempts', {
  name: 'BootAttempt',
  description: 'A boot of a node.',
  select: { columns: { id: true, state: true } },
  id: { column: (attempt) => attempt.id },
  fields: (t) => ({
    node: t.relation('node', { description: 'Node.' }),
    state: t.expose('state', { type: BootState, description: 'State.' }),
    cause: t.expose('cause', { type: BootCause, description: 'What began it.' }),
    mac: t.exposeString('mac', { nullable: true, description: 'MAC address with which the boot script was fetched.' }),
    profile: t.exposeString('profile', { nullable: true, description: 'Name of the boot profile of the boot script.' }),
    profileVersion: t.exposeInt('profileVersion', { nullable: true, description: 'Version of the boot profile.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', description: 'When it began.' }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ended; null while in progress.',
    }),
    timeline: t.field({
      type: [BootTimelineEntry],
      description: 'The reached stages by time; at most 20.',
      resolve: async ({ id }, _args, context) => timelineOf((await stageTimesOf(context, id)) ?? []),
    }),
    stuck: t.field({
      type: BootStuck,
      nullable: true,
      description: 'Where the boot is stuck; null while it progresses, and after its end.',
      resolve: async ({ id, state }, _args, context) =>
        state === 'BOOTING' ? stuckAt((await stageTimesOf(context, id)) ?? [], new Date()) : null,
    }),
    fetches: t.field({
      type: [BootFetch],
      description: `What the node fetched, in the order of the first fetches; at most ${MAX_FETCHES}.`,
      resolve: async ({ id }, _args, context) => ((await fetchesOf(context, id)) ?? []).slice(0, MAX_FETCHES),
    }),
  }),
})
export const bootAttemptConnection = connectionTypes(BootAttempt, 'BootAttempt', 'boots')

export const BootDuration = builder.objectRef<Duration>('BootDuration').implement({
  description: 'Time that boots took from the stage before to a stage.',
  fields: (t) => ({
    stage: t.expose('stage', { type: BootStage, description: 'Stage that was reached.' }),
    boots: t.exposeInt('boots', { description: 'Number of boots.' }),
    p50Ms: t.exposeFloat('p50Ms', { description: 'Median in ms.' }),
    p95Ms: t.exposeFloat('p95Ms', { description: '95th percentile in ms.' }),
  }),
})

const BootPreviewFile = builder.objectRef<Preview['files'][number]>('BootPreviewFile').implement({
  description: 'Content that a node would receive.',
  fields: (t) => ({
    kind: t.expose('kind', { type: BootFetchKind, description: 'What it is.' }),
    content: t.exposeString('content', { description: 'Content without a token.' }),
    hash: t.exposeString('hash', { description: 'Equal to the hash of a fetch of this content.' }),
    origins: t.expose('origins', {
      type: [BootProfileSource],
      description: 'Boot profiles that it comes from, in merge order; at most 168.',
    }),
  }),
})

export const BootPreview = builder.objectRef<Preview>('BootPreview').implement({
  description: 'What a node would receive if it booted now. A preview issues no token.',
  fields: (t) => ({
    files: t.field({ type: [BootPreviewFile], description: 'Contents; at most 5.', resolve: ({ files }) => files }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why there is no boot script; null when there is one.' }),
    profile: t.string({
      nullable: true,
      description: 'Name of the boot profile.',
      resolve: ({ profile }) => profile?.name ?? null,
    }),
    profileVersion: t.int({
      nullable: true,
      description: 'Version of the boot profile.',
      resolve: ({ profile }) => profile?.version ?? null,
    }),
  }),
})

const DEFAULT_URLS = bootUrlsOf({}, '')

async function urlsOf({ ctx, deps }: ApiContext) {
  const [tenant] = await ctx.db.select({ name: tenants.name }).from(tenants).where(eq(tenants.id, ctx.tenantId))
  return (deps.bootUrls ?? DEFAULT_URLS)(tenant!.name)
}

export const dhcpConfigOf = async (context: ApiContext, input: Parameters<typeof readDhcpConfig>[1]): Promise<string> =>
  readDhcpConfig(context.ctx, input, await urlsOf(context))

/** What a node would receive; undefined when there is no such node. */
export const previewBoot = async (context: ApiContext, nodeId: string): Promise<Preview | undefined> =>
  (await previewBoots(context.ctx, [nodeId], await urlsOf(context))).get(nodeId)

builder.drizzleObjectField(ComputeNode, 'bootAttempts', (t) =>
  t.relatedConnection(
    'bootAttempts',
    { description: 'Boots of the node, newest first.', totalCount: true, query: { orderBy: { id: 'desc' } }, ...PAGED },
    ...bootAttemptConnection,
  ),
)

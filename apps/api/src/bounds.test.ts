import { newId } from '@muster/core/db'
import { schema as tables } from '@muster/core/registry'
import { acceleratorFixture, discoveryFixture, insertMany } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  getNullableType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { globalId, type TypeName } from './graphql/shared/ids.ts'
import { listBoundsOf } from './list-bounds.ts'
import { schema } from './schema.ts'
import { testApi } from './testing/api.ts'
import { mutate } from './testing/mutate.ts'

let t: Awaited<ReturnType<typeof testApi>>
let admin: Parameters<typeof mutate>[1]
beforeAll(async () => {
  t = await testApi()
  admin = (await t.given.tenant()).installationAdmin
})
afterAll(() => t?.close())

const idOf = (type: TypeName) => globalId(type, crypto.randomUUID())

/** Required fields of mutations with bounded fields. The IDs do not exist. */
const REQUIRED: Record<string, object> = {
  lookUpSlurmJobs: { clusterId: idOf('SlurmCluster') },
  acknowledgeAlerts: {},
  applySlurmConfigSnippets: { clusterId: idOf('SlurmCluster'), fingerprint: 'a', reason: 'test' },
  addNode: { name: 'n1', host: '10.0.0.1' },
  approveHostKeys: {},
  assignBootProfile: { profileId: idOf('BootProfile') },
  createBootProfile: { name: 'b1' },
  createBootRule: { name: 'b1', names: 'n[1-9]', macPrefixes: ['02'] },
  restoreBootProfile: { id: idOf('BootProfile'), version: 1, number: 1 },
  unassignBootProfile: { profileId: idOf('BootProfile') },
  updateBootProfile: { id: idOf('BootProfile'), version: 1 },
  updateBootRule: { id: idOf('BootRule') },
  createAlertRoute: { name: 'mail', kind: 'EMAIL' },
  createAlertSilence: { reason: 'test', endsAt: new Date(Date.now() + 3_600_000).toISOString() },
  createApiToken: { name: 't1', role: 'viewer' },
  createCredential: { name: 'c1', kind: 'SSH_KEY', username: 'root' },
  createJobTemplate: { name: 'j1' },
  createGrant: { memberId: idOf('Member'), role: 'operator', nodeGroupId: idOf('NodeGroup') },
  createRole: { name: 'r1', permissions: [] },
  createSchedule: { name: 's1', target: 'RUN', template: 'connectivity_check', limit: 'all', rule: '@daily' },
  createTrigger: { name: 't1', template: 'connectivity_check', limit: 'all' },
  updateSchedule: { id: idOf('Schedule') },
  updateTrigger: { id: idOf('Trigger') },
  createSlurmConfigSnippet: { name: 's1', files: { slurmConf: 'MaxArraySize=1' }, clusterIds: [], reason: 'test' },
  deleteSlurmConfigSnippet: { id: idOf('SlurmConfigSnippet') },
  createSlurmCluster: { name: 'made', controllerNodeId: idOf('ComputeNode'), computeNodeIds: [], reason: 'test' },
  scaleInSlurmCluster: { clusterId: idOf('SlurmCluster'), hostlist: 'n1', deadlineSeconds: 1, fingerprint: 'a' },
  scaleOutSlurmCluster: { clusterId: idOf('SlurmCluster'), fingerprint: 'a', reason: 'test' },
  createServiceAccount: { role: 'viewer' },
  startDeviceSignIn: { tokenName: 't1', clientName: 'c1' },
  discoverNodes: {},
  applyManifests: {},
  importNodes: { format: 'LIST', text: 'a' },
  importSlurmConfig: { clusterId: idOf('SlurmCluster'), reason: 'test' },
  rejectUnknownMachine: { id: idOf('UnknownMachine') },
  releaseNodeLocks: { reason: 'test' },
  rollbackSlurmConfig: { clusterId: idOf('SlurmCluster') },
  rolloutSlurmConfig: { clusterId: idOf('SlurmCluster'), number: 1, fingerprint: 'a' },
  setSlurmPowerSaving: {
    ...{ clusterId: idOf('SlurmCluster'), fingerprint: 'a', reason: 'test' },
    settings: { apiUrl: 'https://muster.test' },
  },
  saveSlurmConfig: { clusterId: idOf('SlurmCluster'), basedOn: 1, reason: 'test' },
  retryJobRun: { id: idOf('JobRun') },
  runJob: { template: 'connectivity_check' },
  setNodeGroupMembers: { id: idOf('NodeGroup') },
  discoverBmcs: {},
  startPowerRun: { action: 'ON', reason: 'test', nodeIds: [idOf('ComputeNode')] },
  startSlurmAction: { clusterId: idOf('SlurmCluster'), verb: 'HOLD_JOBS', reason: 'test', reservation: { name: 'fix' } },
  testConnections: {},
  updateAlertRoute: { id: idOf('AlertRoute') },
  updateCredential: { id: idOf('Credential') },
  updateJobTemplate: { id: idOf('JobTemplate') },
  updateNode: { id: idOf('ComputeNode') },
  updateRole: { name: 'r1' },
  updateSlurmConfigSnippet: { id: idOf('SlurmConfigSnippet'), expectedVersion: 1, reason: 'test' },
  updateTenant: { id: idOf('Tenant') },
}

type Bound = { mutation: string; path: string[]; most: number; element: GraphQLInputType | null }

/** Bounds of the lists and texts of an input type. `most` is NaN when the description of a list states no bound. */
function boundsOf(mutation: string, type: GraphQLInputObjectType, path: string[] = []): Bound[] {
  return Object.values(type.getFields()).flatMap((field): Bound[] => {
    const here = [...path, field.name]
    const fieldType = getNullableType(field.type)
    const description = field.description ?? ''
    const list = isListType(fieldType) ? fieldType : null
    const [, stated] = /at most ([\d,]+)/i.exec(description) ?? []
    const most = Number((stated ?? 'none').replaceAll(',', ''))
    const inner = list ? getNullableType(list.ofType as GraphQLInputType) : fieldType
    return [
      ...(list || /at most [\d,]+ characters/i.test(description)
        ? [{ mutation, path: here, most, element: list ? (inner as GraphQLInputType) : null }]
        : []),
      ...(isInputObjectType(inner) && !list ? boundsOf(mutation, inner, here) : []),
    ]
  })
}

const bounds = Object.values(schema.getMutationType()!.getFields()).flatMap(({ name, args }) => {
  const input = args[0] && getNullableType(args[0].type)
  return isInputObjectType(input) ? boundsOf(name, input) : []
})

/** A value of a type, different for each `i` where the type allows it. */
function sampleOf(type: GraphQLInputType, i: number): unknown {
  const nullable = getNullableType(type)
  if (isEnumType(nullable)) return nullable.getValues()[0]!.name
  if (isInputObjectType(nullable))
    return Object.fromEntries(
      Object.values(nullable.getFields())
        .filter((field) => isNonNullType(field.type))
        .map((field) => [field.name, sampleOf(field.type, i)]),
    )
  return { ID: idOf('ComputeNode'), Int: i + 1, Boolean: true }[String(nullable)] ?? `x${i}`
}

const field = (bytes: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes])
const sshKey = (i: number) =>
  `ssh-ed25519 ${Buffer.concat([field(Buffer.from('ssh-ed25519')), field(Buffer.alloc(32, i))]).toString('base64')}`

const mac = (i: number) => `02:00:00:00:00:${i.toString(16).padStart(2, '0')}`

/** Values in a required format, by field. */
const FORMATS: Record<string, (i: number) => unknown> = {
  state: () => 'FAILED',
  ids: () => idOf('Alert'),
  clusterIds: () => idOf('SlurmCluster'),
  to: (i) => `x${i}@example.test`,
  nodeGroupIds: () => idOf('NodeGroup'),
  jobTemplateIds: () => idOf('JobTemplate'),
  credentialIds: () => idOf('Credential'),
  macPrefixes: mac,
  interfaceMacPrefixes: mac,
  interfaces: (i) => ({ name: `eth${i}`, mac: mac(i) }),
  initrds: (i) => ({ url: `http://192.0.2.1/${i}` }),
  sshKeys: (i) => sshKey(i),
  groupIds: () => idOf('NodeGroup'),
  networks: (i) => `10.0.0.${i}/32`,
  allowedHosts: (i) => `host${i}`,
  approvals: () => ({ id: idOf('ComputeNode'), fingerprint: `SHA256:${'A'.repeat(43)}` }),
}

/** Both, with the fields of objects that both have. */
function merge(base: object, over: object): object {
  const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null && !Array.isArray(value)
  const known = base as Record<string, unknown>
  return {
    ...base,
    ...Object.fromEntries(
      Object.entries(over).map(([key, value]) => [
        key,
        isObject(value) && isObject(known[key]) ? merge(known[key], value) : value,
      ]),
    ),
  }
}

/** Issues of the field when its value has `size` elements or characters. */
async function issuesAt({ mutation, path, element }: Bound, size: number): Promise<string[]> {
  const type: GraphQLInputType | null = element
  const value = type ? Array.from({ length: size }, (_, i) => FORMATS[path.at(-1)!]?.(i) ?? sampleOf(type, i)) : 'x'.repeat(size)
  const nested = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as object
  const { issues, message } = await mutate(t, admin, mutation, '', merge(REQUIRED[mutation] ?? {}, nested))
  return issues?.map((issue) => `${issue.path}: ${issue.message}`) ?? [message]
}

describe('inputs of mutations', () => {
  test('every list states its bound', () => {
    expect(bounds.filter(({ most }) => Number.isNaN(most)).map(({ mutation, path }) => `${mutation} ${path.join('.')}`)).toEqual(
      [],
    )
  })

  test.each(bounds.map((bound) => ({ ...bound, field: bound.path.join('.') })))(
    '$mutation accepts at most $most in $field',
    async ({ field, ...bound }) => {
      const rejection = new RegExp(`${bound.path.at(-1)}: .*at most ${bound.most.toLocaleString('en').replace(',', ',?')}\\b`)
      expect(await issuesAt(bound, bound.most + 1)).toContainEqual(expect.stringMatching(rejection))
      expect(await issuesAt(bound, bound.most)).not.toContainEqual(expect.stringMatching(rejection))
    },
  )
})

describe('arguments of queries and subscriptions', () => {
  const lists = Object.values(schema.getTypeMap())
    .filter(isObjectType)
    .flatMap((type) =>
      Object.values(type.getFields()).flatMap((field) =>
        listBoundsOf(field.args).map((bound) => ({
          ...bound,
          call: field.subscribe ?? field.resolve!,
          title: `${type.name}.${field.name} ${bound.path.join('.')}`,
        })),
      ),
    )

  test.each(lists)('$title has at most $most values', async ({ path, most, call }) => {
    const failure = async (size: number) => {
      const args = path.reduceRight<unknown>((inner, name) => ({ [name]: inner }), Array.from({ length: size })) as object
      try {
        await call({}, args, {}, {} as never)
      } catch (error) {
        return String(error)
      }
      return null
    }
    const rejection = `${path.join('.')}: at most ${most} values are allowed; this has ${most + 1}`
    expect(await failure(most + 1)).toContain(rejection)
    expect(await failure(most)).not.toMatch(/values are allowed/)
  })

  test('a list that is too long is INVALID_INPUT', async () => {
    const document = 'query ($filter: NodeFilter) { nodes(filter: $filter) { totalCount } }'
    const send = (size: number) => t.send(admin, document, { filter: { tag: Array.from({ length: size }, (_, i) => `t${i}`) } })
    expect((await send(501)).errors).toMatchObject([
      {
        extensions: { code: 'INVALID_INPUT', issues: [{ path: 'filter.tag', message: expect.stringContaining('at most 500') }] },
      },
    ])
    expect((await send(500)).errors).toBeUndefined()
  })
})

describe('lists without pagination', () => {
  test('nodeFacets returns at most 500 values of each attribute, the most frequent ones', async () => {
    const { operator } = await t.given.tenant()
    const tagsOf = (i: number) => Array.from({ length: 100 }, (_, n) => `tag${i * 100 + n}`)
    await t.given.fleet(operator, {
      nodes: 502,
      with: (i) => ({ region: `region${Math.max(i, 1)}`, arch: `arch${i % 501}`, ...(i < 6 ? { tags: tagsOf(i % 5) } : {}) }),
    })
    await t.given.fleet(operator, { prefix: 'other', with: { tags: ['zz', 'tag1'] } })
    await insertGroups(operator, 501)
    type Facets = { nodeFacets: Record<'tags' | 'regions' | 'arches' | 'groups', { value: string; count: number }[]> }
    const { nodeFacets } = await t.ask<Facets>(
      operator,
      '{ nodeFacets { tags { value count } regions { value count } arches { value count } groups { value count } } }',
    )
    expect(Object.entries(nodeFacets).map(([name, values]) => [name, values.length])).toEqual([
      ['tags', 500],
      ['regions', 500],
      ['arches', 500],
      ['groups', 500],
    ])
    expect(nodeFacets.regions[0]).toEqual({ value: 'region1', count: 2 })
    expect(nodeFacets.arches[0]).toEqual({ value: 'arch0', count: 2 })
    expect(nodeFacets.tags[0]).toEqual({ value: 'tag1', count: 3 })
    expect(nodeFacets.tags).not.toContainEqual({ value: 'zz', count: 1 })
  })

  test('a node returns at most 500 of its groups', async () => {
    const { operator } = await t.given.tenant()
    await t.given.fleet(operator)
    await insertGroups(operator, 501)
    const { computeNode } = await t.ask<{ computeNode: { groups: object[] } }>(
      operator,
      '{ computeNode(name: "gpu001") { groups { name } } }',
    )
    expect(computeNode.groups).toHaveLength(500)
  })

  test('discoveryDiff returns at most 1,000 differences', async () => {
    const { operator } = await t.given.tenant()
    const [node] = await t.given.fleet(operator)
    const discover = async (changed: number) => {
      const accelerators = Array.from({ length: 200 }, (_, i) =>
        acceleratorFixture(i, {
          uuid: `GPU-${i}`,
          ...(i < changed
            ? {
                model: 'B200',
                driverVersion: '1',
                firmwareVersion: '1',
                toolkitVersion: '1',
                computeCapability: '1',
                serial: `${i}`,
              }
            : {}),
        }),
      )
      const row = { tenantId: operator.tenantId, nodeId: node!.id, reason: 'refresh' as const, finishedAt: new Date() }
      const [inserted] = await t.runtime.db
        .insert(tables.discoveries)
        .values({ ...row, result: discoveryFixture({ accelerators }) })
        .returning()
      return globalId('Discovery', inserted!.id)
    }
    const [before, some, all] = [await discover(0), await discover(10), await discover(200)]
    const diff = async (after: string) =>
      (
        await t.ask<{ discoveryDiff: object[] }>(
          operator,
          'query ($before: ID!, $after: ID!) { discoveryDiff(fromId: $before, toId: $after) { path } }',
          { before, after },
        )
      ).discoveryDiff
    expect(await diff(some)).toHaveLength(60)
    expect(await diff(all)).toHaveLength(1000)
  })
})

/** Groups that contain the first node of the tenant. */
async function insertGroups({ tenantId }: { tenantId: string }, count: number) {
  const groups = Array.from({ length: count }, (_, i) => ({ id: newId(), tenantId, name: `group${i}` }))
  await insertMany(t.runtime.db, tables.nodeGroups, groups)
  const { computeNodes, nodeGroupMembers } = tables
  const [node] = await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.tenantId, tenantId)).limit(1)
  const memberships = groups.map(({ id }) => ({ groupId: id, nodeId: node!.id }))
  await insertMany(t.runtime.db, nodeGroupMembers, memberships)
}

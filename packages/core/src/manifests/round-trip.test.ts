import { and, eq, sql } from 'drizzle-orm'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAlertRoute } from '../alerts/index.ts'
import { alertRoutes } from '../alerts/tables.ts'
import { assignBootProfile, createBootProfile } from '../boot-profiles/index.ts'
import { bootProfiles } from '../boot-profiles/tables.ts'
import { addSlurmCluster } from '../clusters/index.ts'
import { createSecretStore } from '../credentials/index.ts'
import { CREDENTIAL_KINDS } from '../credentials/tables.ts'
import { createNodeGroup, setNodeGroupMembers } from '../groups/index.ts'
import { nodeGroups } from '../groups/tables.ts'
import { DomainError, InvalidInput } from '../kernel/errors.ts'
import { multilineText, singleLineText } from '../kernel/input.ts'
import { decommissionNode } from '../node-states/index.ts'
import { addNode } from '../nodes/index.ts'
import { computeNodes, nodeInterfaces } from '../nodes/tables.ts'
import type { Ctx } from '../registry.ts'
import { archiveJobTemplate, createJobTemplate } from '../templates/index.ts'
import { jobTemplates } from '../templates/tables.ts'
import { makeHostKey, makeKeyPair } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { FAULT_TIMEOUT, scaleIterations } from '../testing/scale-iterations.ts'
import { setVars } from '../variables/index.ts'
import { variableScopes } from '../variables/tables.ts'
import { applyManifests } from './apply/apply-manifests.ts'
import { exportManifests } from './export-manifests.ts'
import { KINDS } from './kinds/index.ts'

/** Installations per property. */
const RUNS = scaleIterations(500, 0.02)

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

/** Text that YAML or templates of manifests could read as something else. */
const TRICKY = [
  ...[
    'yes',
    'no',
    'null',
    '~',
    'true',
    '1',
    '010',
    '1e3',
    '0x10',
    '1_000',
    '12:30',
    '2001-01-01',
    '.5',
    '-',
    '- a',
    'a: b',
    'a #b',
  ],
  ...[
    '# c',
    '"q"',
    "it's",
    '{name}',
    '{{ x }}',
    '10+',
    '10.0.0.1+',
    '@x',
    '!t',
    '&a',
    '*a',
    '%d',
    '|',
    '>',
    '? x',
    '[a',
    'a,b',
    '<<',
  ],
  ...[
    '---',
    '...',
    '__proto__',
    'constructor',
    '\\n',
    'é',
    '日本',
    '😀',
    '\u00a0x',
    '\ufeff',
    'a\u200bb',
    '\ud800',
    'x'.repeat(100),
  ],
]
const TRICKY_LINES = [
  'a\nb',
  'a\n',
  '\n',
  '\n\na',
  'a\n\n\n',
  ' a\n  b',
  'a \nb',
  '\ta',
  'a\tb\n',
  'a\r\nb',
  'a\r',
  ' ',
  '# x\ny: z\n',
  '---\na',
]

const text = (...more: string[]) => fc.oneof(fc.constantFrom(...TRICKY, ...more), fc.string({ unit: 'grapheme', maxLength: 12 }))
const line = (max = 30) => text().filter((each) => singleLineText(max).safeParse(each).success)
const lines = text(...TRICKY_LINES).filter((each) => multilineText(200).safeParse(each).success)
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null, freq: 3 })
const some = <T>(value: fc.Arbitrary<T>, maxLength = 4) => fc.array(value, { maxLength })
const oneOrMore = <T>(value: fc.Arbitrary<T>, maxLength = 4) => fc.array(value, { minLength: 1, maxLength })
const fields = <T>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) => fc.record(model, { requiredKeys: [] })
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(lines, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.constant(null)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.oneof(fc.constantFrom('a', 'b.c', 'yes', '1', '', 'x y', '-'), fc.string({ maxLength: 5 })), tie('value'), {
      maxKeys: 3,
    }),
  ),
})).value
const vars = fc.dictionary(fc.constantFrom('a', 'b', 'ntp_server', 'yes', 'no', 'x1', 'null_', 'labels'), json, { maxKeys: 4 })
const tag = fc.constantFrom('a', 'yes', '1', '010', 'null', 'é', 'a:b', 'x=1')

const KEY = makeKeyPair().public
const HOST_KEY = makeHostKey()
const IMAGE = fc.record({
  url: fc.constantFrom('http://10.0.0.1/vmlinuz', 'HTTP://10.0.0.1:80/a b', 'tftp://boot.example.org/x'),
  checksum: maybe(fc.constantFrom(`sha256:${'0a'.repeat(32)}`, `SHA512:${'F'.repeat(128)}`)),
})

/** What to create. Numbers refer to other objects by their position. */
const site = fc.record({
  credentials: oneOrMore(
    fc.record({
      kind: fc.constantFrom(...CREDENTIAL_KINDS),
      via: fc.nat(9),
      isStored: fc.boolean(),
      fields: fields({
        name: line(100),
        description: lines,
        username: fc.constantFrom('root', 'yes', 'ops'),
        port: fc.constantFrom(22, 8000, 6820, 2222),
        becomeMethod: fc.constantFrom('sudo', 'su'),
        allowedHosts: fc.constantFrom(['*'], ['10.0.0.1', 'a.example.org', '*.example.org'], []),
        hostKey: fc.constant(HOST_KEY),
        host: fc.constantFrom('10.0.0.1', 'a.example.org', 'FE80::1'),
      }),
    }),
    5,
  ),
  templates: oneOrMore(
    fc.record({
      isArchived: fc.constantFrom(false, false, true),
      name: fc.constantFrom('site', '1', 'yes', 'null', '1e3', 'a.b-c'),
      fields: fields({
        ...{
          displayName: line(128),
          description: lines,
          category: line(64),
          gitUrl: fc.constant('https://git.example.org/a.git'),
        },
        ...{ source: fc.constantFrom('shipped', 'git'), gitRef: fc.constantFrom('main', '1.0', '1e3'), become: fc.boolean() },
        ...{
          becomeMethod: fc.constantFrom('sudo', 'su'),
          becomeUser: fc.constantFrom('root', 'ops'),
          forks: fc.integer({ min: 1, max: 500 }),
        },
        ...{ timeoutSeconds: fc.integer({ min: 1, max: 9999 }), serial: maybe(fc.constantFrom('10%', '5', 5, [1, '50%'])) },
        ...{
          maxFailPercentage: maybe(fc.constantFrom(0, 10, 100)),
          jobTags: some(tag),
          skipTags: some(tag),
          tags: some(line(50)),
        },
        ...{ isIdempotent: fc.boolean(), isReadOnly: fc.boolean(), defaultVars: vars },
        inputSchema: maybe(
          fc.record({
            type: fc.constant('object'),
            properties: fc.record({ count: fc.record({ type: fc.constant('string'), title: lines, default: lines }) }),
          }),
        ),
      }),
    }),
  ),
  groups: oneOrMore(
    fc.record({
      name: fc.constantFrom('gpu', 'yes', 'NULL', 'n', '_x', 'e3', 'on'),
      parent: fc.nat(8),
      members: some(fc.nat(5)),
      fields: fields({
        ...{ displayName: maybe(line(128)), description: lines, priority: fc.constantFrom(0, 1, 100, 100_000) },
        ...{ kind: fc.constantFrom('AD_HOC', 'PROJECT', 'PARTITION', 'JOB'), exclusiveSet: maybe(line(64)) },
        memberQuery: maybe(fc.constantFrom('tag = "a"', 'rack = "yes"')),
      }),
    }),
    5,
  ),
  nodes: oneOrMore(
    fc.record({
      name: fc.constantFrom('n1', 'n02', 'n3', 'yes', 'null', '1e3', '0x10', '12', 'gpu-01.a', 'true', '010'),
      isDecommissioned: fc.constantFrom(false, false, false, true),
      ...{ credential: fc.nat(9), become: fc.nat(9), bastion: fc.nat(9), bmcCredential: fc.nat(9) },
      macs: some(fc.integer({ min: 0, max: 255 }), 3),
      interfaces: fields({
        name: fc.constantFrom('hsn', 'e', 'no'),
        isBoot: fc.boolean(),
        addresses: some(
          fc.record({ address: fc.constantFrom('10.0.0.1', 'FE80::1', '::ffff:10.0.0.1'), network: maybe(line(64)) }),
          2,
        ),
      }),
      bmc: maybe(
        fields({
          ...{ port: maybe(fc.constantFrom(443, 623, 8443)), mac: maybe(fc.constantFrom('02-00-00-00-00-AA', '0200000000ab')) },
          ...{
            protocol: fc.constantFrom('REDFISH', 'IPMI'),
            systemPath: maybe(fc.constant('/redfish/v1/Systems/1')),
            fingerprint: maybe(fc.constant('AB'.repeat(32))),
          },
        }),
      ),
      fields: fields({
        ...{ displayName: maybe(line(128)), sshUser: maybe(fc.constantFrom('root', 'yes')), port: fc.constantFrom(22, 2222) },
        ...{ nodeType: fc.constantFrom('COMPUTE', 'LOGIN', 'STORAGE'), region: maybe(line(64)), datacenter: maybe(line(64)) },
        ...{ rack: maybe(line(64)), rackPosition: maybe(line(32)), nid: maybe(fc.nat(99_999)), notes: lines, tags: some(tag) },
        ...{
          xname: maybe(fc.constantFrom('x1000c0s0b0n0', 'X0001C1S02B0N1')),
          managementIp: maybe(fc.constantFrom('10.0.0.9', 'FE80::9')),
        },
        labels: fc.dictionary(fc.constantFrom('a', 'a.b', 'a/b', 'yes', '1', '0'), line(256), { maxKeys: 4 }),
      }),
    }),
    5,
  ),
  profiles: oneOrMore(
    fc.record({
      name: fc.constantFrom('base', '1', 'yes', 'null', '1e3', '0.1'),
      parent: fc.nat(8),
      assignments: some(
        fc.record({
          ...{ nodes: some(fc.nat(5), 3), groups: some(fc.nat(5), 2), allNodes: fc.boolean(), unknownMachines: fc.boolean() },
          priority: fc.constantFrom(0, 100, 7, null),
        }),
        2,
      ),
      fields: fields({
        ...{ description: lines, arch: maybe(fc.constantFrom('x86_64', 'arm64')), kernel: maybe(IMAGE), rootImage: maybe(IMAGE) },
        ...{ initrds: maybe(some(IMAGE, 2)), kernelParams: maybe(some(fc.constantFrom('quiet', 'a="b c"', 'x=1', 'k={name}'))) },
        ...{ adminUser: maybe(fc.constantFrom('admin', 'yes')), sshKeys: maybe(some(fc.constant(KEY), 2)) },
        userData: maybe(
          fc.constantFrom('#cloud-config\npackages: [a]\n', '#!/bin/sh\necho "{name}"  \n\n', '  \n', '#cloud-config\n{}'),
        ),
        networkConfig: maybe(fc.constantFrom('version: 2\nethernets: {}\n', 'version: 1\nconfig: []')),
      }),
    }),
  ),
  variables: oneOrMore(fc.record({ at: fc.constantFrom('all', 'group', 'node'), of: fc.nat(5), vars }), 4),
  clusters: oneOrMore(
    fc.record({
      ...{ name: line(63), controller: fc.nat(5), backup: fc.nat(9) },
      fields: fields({
        region: maybe(line(100)),
        maxNodes: maybe(fc.constantFrom(1, 100_000)),
        reuseConfig: fc.boolean(),
        slurmrestdSocket: maybe(fc.constant('/run/slurmrestd.socket')),
      }),
      login: fc.nat(9),
    }),
    2,
  ),
  routes: oneOrMore(
    fc.record({
      name: line(100),
      kind: fc.constantFrom('email', 'webhook', 'slack'),
      port: maybe(fc.constantFrom(25, 465, 587)),
      security: maybe(fc.constantFrom('starttls', 'tls', 'none')),
      fields: fields({
        ...{ isEnabled: fc.boolean(), notifyOnResolve: fc.boolean() },
        matcher: fields({
          severities: fc.constantFrom(['critical'], ['warning', 'critical'], ['critical', 'warning'], []),
          clusters: some(line(64), 2),
          query: fc.constantFrom('tag = "a"', 'rack = "yes"'),
        }),
      }),
    }),
    3,
  ),
})
type Site = typeof site extends fc.Arbitrary<infer T> ? T : never
type Row = { id: string }

/** Creates the objects with the verbs; without what the verbs reject. */
async function create(ctx: Ctx, given: Site): Promise<void> {
  /** Calls a verb, again without the fields that it rejects. */
  const made = async <T>(input: object, verb: (input: never) => Promise<T>): Promise<T | null> => {
    const left: Record<string, unknown> = { ...input }
    for (;;)
      try {
        return await verb(left as never)
      } catch (error) {
        if (!(error instanceof DomainError)) throw error
        const wrong = error instanceof InvalidInput ? error.issues.map(({ path }) => path.split('.')[0]!) : []
        if (!wrong.some((field) => left[field] != null)) return null
        for (const field of wrong) delete left[field]
      }
  }
  const all = async <G, T>(list: G[], work: (one: G) => Promise<T | null>): Promise<T[]> => {
    const rows: T[] = []
    for (const one of list) {
      const row = await work(one)
      if (row) rows.push(row)
    }
    return rows
  }
  const idAt = (rows: Row[], i: number): string | null => rows[i]?.id ?? null
  const store = await createSecretStore(ctx, {
    name: 'vault',
    address: 'https://vault.example.org',
    auth: 'TOKEN',
    secret: 'token',
  })
  const ref = { path: 'ssh/root', key: 'yes' }
  const logins: (Row & { kind: string })[] = []
  const loginAt = (kind: string, i: number) => logins.filter((login) => login.kind.startsWith(kind))[i % 3]?.id ?? null
  for (const { kind, via, isStored, fields } of given.credentials) {
    const secret = kind === 'SSH_KEY' ? 'privateKey' : kind === 'BMC' ? 'password' : null
    const stored = { secretStoreId: store.id, ...(secret ? { [secret]: null, secretRefs: { [secret]: ref } } : {}) }
    const input = { ...(isStored && secret ? stored : {}), ...fields, viaId: kind === 'BASTION' ? loginAt(kind, via) : null }
    const login = await made(input, (input) => t.given.credential(ctx, kind, input))
    if (login) logins.push(login)
  }
  for (const { name, isArchived, fields } of given.templates) {
    const input = {
      name,
      playbookPath: 'ping.yml',
      ...fields,
      ...(fields.source === 'git' ? {} : { gitUrl: null, gitRef: null }),
    }
    const template = await made(input, (input) => createJobTemplate(ctx, input))
    if (template && isArchived) await archiveJobTemplate(ctx, { id: template.id })
  }
  const nodes = await all(given.nodes, ({ name, macs, interfaces, bmc, fields, ...node }) =>
    made(
      {
        ...{ name, host: `${name}.example.org`, hostKey: HOST_KEY, ...fields },
        ...{ credentialId: loginAt('SSH', node.credential), becomeCredentialId: loginAt('BECOME', node.become) },
        bastionId: loginAt('BASTION', node.bastion),
        interfaces: macs.map((mac, i) => ({
          ...{ ...interfaces, name: `${interfaces.name ?? 'hsn'}${i}`, isBoot: i === 0 && interfaces.isBoot },
          mac: `02:00:00:00:${name.length.toString(16).padStart(2, '0')}:${mac.toString(16).padStart(2, '0')}`,
        })),
        ...(bmc && loginAt('BMC', 0)
          ? {
              bmc: {
                address: `bmc-${name}.example.org`,
                ...bmc,
                credentialId: loginAt('BMC', node.bmcCredential) ?? loginAt('BMC', 0),
              },
            }
          : {}),
      },
      (input) => addNode(ctx, input),
    ),
  )
  const groups: Row[] = []
  for (const { name, parent, members, fields } of given.groups) {
    const group = await made({ name, parentId: idAt(groups, parent), ...fields }, (input) => createNodeGroup(ctx, input))
    if (!group) continue
    groups.push(group)
    const addNodeIds = members.flatMap((i) => idAt(nodes, i) ?? [])
    if (addNodeIds.length > 0) await made({ id: group.id, addNodeIds }, (input) => setNodeGroupMembers(ctx, input))
  }
  const profiles: Row[] = []
  for (const { name, parent, assignments, fields } of given.profiles) {
    const profile = await made({ name, parentId: idAt(profiles, parent), ...fields }, (input) => createBootProfile(ctx, input))
    if (!profile) continue
    profiles.push(profile)
    for (const { nodes: nodeAt, groups: groupAt, ...rest } of assignments) {
      const ids = {
        nodeIds: nodeAt.flatMap((i) => idAt(nodes, i) ?? []),
        groupIds: groupAt.flatMap((i) => idAt(groups, i) ?? []),
      }
      await made({ profileId: profile.id, ...ids, ...rest }, (input) => assignBootProfile(ctx, input))
    }
  }
  await all(given.variables, ({ at, of, vars }) => {
    const place = at === 'group' ? { groupId: idAt(groups, of) } : at === 'node' ? { nodeId: idAt(nodes, of) } : {}
    return made({ ...place, text: JSON.stringify(vars), basedOn: 0 }, (input) => setVars(ctx, input))
  })
  await all(given.clusters, ({ name, controller, backup, login, fields }) => {
    const hosts = { controllerNodeId: idAt(nodes, controller % nodes.length), backupNodeId: idAt(nodes, backup) }
    const slurmrestd = fields.slurmrestdSocket ? {} : { slurmrestdCredentialId: loginAt('SLURMRESTD', login) }
    return made({ name, ...hosts, ...slurmrestd, ...fields }, (input) => addSlurmCluster(ctx, input))
  })
  await all(given.routes, ({ name, kind, port, security, fields }) => {
    const places = {
      email: { host: 'mail.example.org', from: 'a@example.org', to: ['b@example.org'], port, security },
      webhook: { url: 'https://93.184.216.34/hook', secret: 'secret of the hook' },
      slack: { url: 'https://93.184.216.34/slack' },
    }
    return made({ name, kind, ...places[kind], ...fields }, (input) => createAlertRoute(ctx, input))
  })
  for (const [i, { isDecommissioned }] of given.nodes.entries())
    if (isDecommissioned && nodes[i]) await made({ id: nodes[i].id }, (input) => decommissionNode(ctx, input))
}

const files = (text: string) => [{ name: 'export.yaml', text }]
const NOTHING = { issues: [], conflicts: [], warnings: [], isApplied: true }

it('exports objects of every kind so that applying changes nothing, and exporting again gives the same bytes', {
  timeout: FAULT_TIMEOUT,
}, async () => {
  const seen = new Set<string>()
  await fc.assert(
    fc.asyncProperty(site, async (given) => {
      const { admin } = await t.given.tenant()
      await create(admin, given)
      const exported = await exportManifests(admin, {})
      for (const [, kind] of exported.matchAll(/^kind: (\w+)$/gm)) seen.add(kind!)
      for (const text of [exported, await exportManifests(admin, { withVersions: true })]) {
        const { changes, ...applied } = await applyManifests(admin, { files: files(text), owner: 'export' })
        expect({ ...applied, changes, text }).toMatchObject({ ...NOTHING, changes: [], text })
      }
      expect(await exportManifests(admin, {})).toBe(exported)
    }),
    { numRuns: RUNS },
  )
  expect([...seen].sort()).toEqual([...KINDS].sort())
})

/** Columns that a manifest does not describe, or describes by the name of another object. */
const OTHER_COLUMNS = /Id$|^id$|At$|ByName$|^hostKey|^version$/

/** The rows of an installation by table, without the order in which they were created. */
async function contentOf({ db, tenantId }: Ctx): Promise<string[][]> {
  const tables: object[][] = [
    await db.select().from(nodeGroups).where(eq(nodeGroups.tenantId, tenantId)),
    await db.select().from(computeNodes).where(eq(computeNodes.tenantId, tenantId)),
    await db.select().from(nodeInterfaces).where(eq(nodeInterfaces.tenantId, tenantId)),
    await db.select().from(bootProfiles).where(eq(bootProfiles.tenantId, tenantId)),
    await db.select().from(alertRoutes).where(eq(alertRoutes.tenantId, tenantId)),
    await db
      .select()
      .from(jobTemplates)
      .where(and(eq(jobTemplates.tenantId, tenantId), eq(jobTemplates.isSystem, false))),
    // A scope without variables is not exported.
    await db
      .select({ vars: variableScopes.vars })
      .from(variableScopes)
      .where(and(eq(variableScopes.tenantId, tenantId), sql`vars <> '{}'`)),
  ]
  const textOf = (row: object) =>
    JSON.stringify(Object.fromEntries(Object.entries(row).filter(([column]) => !OTHER_COLUMNS.test(column))))
  return tables.map((rows) => rows.map(textOf).sort())
}

it('creates the same objects from an export in another tenant, where no secrets are needed', {
  timeout: FAULT_TIMEOUT,
}, async () => {
  await fc.assert(
    fc.asyncProperty(site, async (given) => {
      const [{ admin }, { admin: other }] = [await t.given.tenant(), await t.given.tenant()]
      await create(admin, {
        ...given,
        ...{ credentials: [], clusters: [], routes: given.routes.filter(({ kind }) => kind === 'email') },
        nodes: given.nodes.map((node) => ({ ...node, isDecommissioned: false })),
        templates: given.templates.map((template) => ({ ...template, isArchived: false })),
      })
      const text = await exportManifests(admin, {})
      const applied = await applyManifests(other, { files: files(text) })
      expect({ ...applied, text }).toMatchObject({ ...NOTHING, text })
      expect(await exportManifests(other, {})).toBe(text)
      expect(await contentOf(other)).toEqual(await contentOf(admin))
    }),
    { numRuns: RUNS },
  )
})

import { createHash, randomUUID } from 'node:crypto'
import { createApiToken, inviteMember, sessionAudit } from '@muster/core/access'
import { type AuditEntry, flushAttempts, recordAttempt, sealAuditEntries } from '@muster/core/audit'
import { canonicalJson } from '@muster/core/canonical-json'
import { auditActions, schema as tables } from '@muster/core/registry'
import { makePrivateKey, type TenantFixture } from '@muster/core/testing'
import { asc } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { globalId } from './graphql/shared/ids.ts'
import { auditExportEndpoint } from './http/audit-export.ts'
import { testApi } from './testing/api.ts'
import { PUBLIC } from './testing/isolation/exceptions.ts'
import { operationsOf } from './testing/isolation/operations.ts'
import { createValues } from './testing/isolation/values.ts'
import { createObjects } from './testing/objects.ts'
import { insertSession } from './testing/sessions.ts'
import { totpCode } from './testing/totp.ts'

const { auditEntries } = tables
const isPublic = ({ name }: { name: string }) => PUBLIC.includes(name.split('.')[1]!)
const OPERATIONS = operationsOf('Mutation').filter((operation) => !isPublic(operation))
const PUBLIC_OPERATIONS = operationsOf('Mutation').filter(isPublic)
const MUTATIONS = OPERATIONS.map(({ name }) => name.split('.')[1]!)
const { variablesFor } = createValues()

let t: Awaited<ReturnType<typeof testApi>>
let tenant: TenantFixture
let named: Parameters<typeof variablesFor>[1]
beforeAll(async () => {
  t = await testApi()
  const objects = await createObjects(t)
  tenant = objects.tenant
  const ids = Object.entries({ ...objects.ids, Worker: globalId('Worker', randomUUID()) }).map(([type, id]) => [type, [id]])
  named = { marker: 'theirs', ids: Object.fromEntries(ids) }
})
afterAll(() => t?.close())
beforeEach(() => flushAttempts())

/** Rows that `work` adds. */
async function rowsOf(work: () => Promise<unknown>) {
  const before = await t.runtime.db.$count(auditEntries)
  await work()
  return (await t.runtime.db.select().from(auditEntries).orderBy(asc(auditEntries.id))).slice(before)
}

const expectedOutcome = (typename: string) =>
  typename.endsWith('Payload') ? 'succeeded' : typename === 'ForbiddenError' ? 'denied' : 'failed'

/** Outcome and action of each mutation. */
const seen: Record<'viewer' | 'owner', Record<string, AuditEntry>> = { viewer: {}, owner: {} }

describe.each(['viewer', 'owner'] as const)('as %s', (role) => {
  test.each(OPERATIONS)('$name leaves one row with its outcome', async (operation) => {
    const name = operation.name.split('.')[1]!
    const as = tenant[role]
    await t.tokenOf(as)
    let typenames: string[] = []
    const rows = await rowsOf(async () => {
      const data = await t.ask<Record<string, { __typename: string }>>(as, operation.document, variablesFor(operation, named))
      typenames = Object.values(data).map((each) => each.__typename)
    })
    expect(rows.map(({ outcome }) => outcome)).toEqual(typenames.map(expectedOutcome))
    const [row] = rows
    seen[role][name] = row!
    expect(row).toMatchObject({ tenantId: tenant.tenant.id, actorKind: 'token', channel: 'api', requestId: expect.any(String) })
    if (row!.outcome === 'denied') expect(row!.permission).toMatch(/^\w+(:\w+)+$/)
    expect(ACTIONS).toContain(row!.action)
  })
})

const ACTIONS = Object.values(auditActions).flatMap((actions) => Object.values(actions as object).map(({ name }) => name))

test('most mutations are denied to viewers and allowed to owners, with the same action', () => {
  const names = (role: 'viewer' | 'owner', outcome: string) => MUTATIONS.filter((name) => seen[role][name]?.outcome === outcome)
  const [denied, succeeded] = [names('viewer', 'denied'), names('owner', 'succeeded')]
  expect(denied.length).toBeGreaterThan(40)
  expect(succeeded.length).toBeGreaterThan(25)
  for (const name of denied.filter((name) => succeeded.includes(name)))
    expect(seen.viewer[name]!.action, name).toBe(seen.owner[name]!.action)
})

/** Successful mutations above that change no row of their object, or not in this test. */
const UNCHANGED = [
  'applyManifests',
  'changeMemberRole',
  'endOtherSessions',
  'importNodes',
  'lookUpSlurmJobs',
  'pollDeviceSignIn',
  'rotateCredentialKey',
  'setVarMerge',
  'startDeviceSignIn',
  'uploadPlaybookBundle',
]

test('a successful mutation has the changed fields', () => {
  const succeeded = MUTATIONS.filter((name) => seen.owner[name]?.outcome === 'succeeded' && !UNCHANGED.includes(name))
  expect(succeeded.filter((name) => (seen.owner[name]!.before ?? seen.owner[name]!.after) === null)).toEqual([])
})

describe('before and after', () => {
  let update: TenantFixture
  let ids: Record<string, string>
  beforeAll(async () => {
    ;({ tenant: update, ids } = await createObjects(t))
    const data = await t.ask<{ it: { template: { id: string } } }>(
      update.owner,
      `mutation { it: createJobTemplate(input: { name: "own", settings: { source: BUNDLE, bundleId: "${ids.PlaybookBundle}", playbookPath: "site.yml" } }) {
        ... on CreateJobTemplatePayload { template { id } } } }`,
    )
    ids.JobTemplate = data.it.template.id
    const bmc = await t.ask<{ it: { credential: { id: string } } }>(
      update.owner,
      `mutation { it: createCredential(input: { name: "bmc", kind: BMC, username: "root", password: "secret of a bmc", allowedHosts: ["10.0.0.0/8"] }) {
        ... on CreateCredentialPayload { credential { id } } } }`,
    )
    ids.BmcCredential = bmc.it.credential.id
    const viewer = { tenantId: update.tenant.id, userId: update.viewer.actor.id! }
    ids.Member = globalId('Member', (await t.runtime.db.query.members.findFirst({ where: viewer }))!.id)
  })
  const SECRET = 'geheim-1234'
  /** The input of each update, and the changed fields in its entry; a function where the input needs an ID. */
  const UPDATES: Record<string, [input: (ids: Record<string, string>) => string, before: object | null, after: object | null]> = {
    updateRole: [
      () => 'name: "custom-theirs", permissions: ["node:write"]',
      { permissions: [] },
      { permissions: ['node:write'] },
    ],
    changeMemberRole: [({ Member }) => `id: "${Member}", role: "operator"`, { role: 'viewer' }, { role: 'operator' }],
    suspendMember: [
      ({ Member }) => `id: "${Member}"`,
      { suspendedAt: null, suspendedByName: null },
      { suspendedAt: expect.any(String), suspendedByName: expect.any(String) },
    ],
    resumeMember: [
      ({ Member }) => `id: "${Member}"`,
      { suspendedAt: expect.any(String), suspendedByName: expect.any(String) },
      { suspendedAt: null, suspendedByName: null },
    ],
    updateNode: [
      ({ ComputeNode }) => `id: "${ComputeNode}", notes: "new", tags: ["a"]`,
      { notes: '', tags: [] },
      { notes: 'new', tags: ['a'] },
    ],
    setNodeMaintenance: [({ ComputeNode }) => `id: "${ComputeNode}", enabled: true`, expect.any(Object), expect.any(Object)],
    setNodeBmc: [
      ({ ComputeNode, BmcCredential }) =>
        `nodeId: "${ComputeNode}", address: "10.0.0.77", credentialId: "${BmcCredential}", mac: "02:00:00:00:0b:77"`,
      null,
      expect.objectContaining({ address: '10.0.0.77', mac: '02:00:00:00:0b:77' }),
    ],
    updateNodeGroup: [({ NodeGroup }) => `id: "${NodeGroup}", priority: 7`, { priority: 100 }, { priority: 7 }],
    setNodeGroupMembers: [
      ({ NodeGroup, ComputeNode }) => `id: "${NodeGroup}", addNodeIds: ["${ComputeNode}"]`,
      null,
      { members: [expect.any(String)] },
    ],
    updateCredential: [
      ({ Credential }) => `id: "${Credential}", username: "root", privateKey: ${JSON.stringify(makePrivateKey())}`,
      { encrypted: { privateKey: '[hidden]' }, username: 'ops', publicKey: expect.any(String) },
      { encrypted: { privateKey: '[hidden, changed]' }, username: 'root', publicKey: expect.any(String) },
    ],
    updateSchedule: [
      ({ Schedule }) => `id: "${Schedule}", jitterSeconds: 60`,
      expect.objectContaining({ jitterSeconds: 0 }),
      expect.objectContaining({ jitterSeconds: 60 }),
    ],
    updateTrigger: [
      ({ Trigger }) => `id: "${Trigger}", maxPerHour: 7`,
      expect.objectContaining({ maxPerHour: 60 }),
      expect.objectContaining({ maxPerHour: 7 }),
    ],
    updateSecretStore: [({ SecretStore }) => `id: "${SecretStore}", mount: "kv"`, { mount: 'secret' }, { mount: 'kv' }],
    updateAlertRoute: [
      ({ AlertRoute }) => `id: "${AlertRoute}", name: "new", url: "https://hooks.test/${SECRET}"`,
      { name: 'theirs', encrypted: { url: '[hidden]' } },
      { name: 'new', encrypted: { url: '[hidden, changed]' } },
    ],
    updateAuditSink: [
      ({ AuditSink }) => `id: "${AuditSink}", host: "other.test"`,
      { settings: { host: 'siem.test', port: 6514 } },
      { settings: { host: 'other.test', port: 6514 } },
    ],
    updateJobTemplate: [
      ({ JobTemplate }) => `id: "${JobTemplate}", settings: { forks: 3 }`,
      { forks: 20, version: 1 },
      { forks: 3, version: 2 },
    ],
    archiveJobTemplate: [({ JobTemplate }) => `id: "${JobTemplate}"`, { archivedAt: null }, { archivedAt: expect.any(String) }],
    setVars: [() => 'text: "a: 1", basedOn: 0', null, expect.objectContaining({ source: 'a: 1', vars: { a: 1 } })],
    setSecretVar: [
      () => `name: "password", value: "${SECRET}"`,
      { version: 1, secrets: {} },
      { version: 2, secrets: { password: '[hidden]' } },
    ],
    setStepUp: [() => 'minutes: 30', { stepUpMinutes: null }, { stepUpMinutes: 30 }],
    setVarMerge: [() => 'merge: DEEP', { varMerge: 'replace' }, { varMerge: 'deep' }],
    setRetention: [
      () => 'logDays: 7, auditDays: 365',
      { logRetentionDays: null, auditRetentionDays: null },
      { logRetentionDays: 7, auditRetentionDays: 365 },
    ],
    setMaxConcurrentRuns: [() => 'maxConcurrentRuns: 3', { maxConcurrentRuns: null }, { maxConcurrentRuns: 3 }],
    pauseQueue: [
      () => 'reason: "x"',
      expect.objectContaining({ queuePauseReason: null }),
      expect.objectContaining({ queuePauseReason: 'x' }),
    ],
    resumeQueue: [
      () => '',
      expect.objectContaining({ queuePauseReason: 'x' }),
      expect.objectContaining({ queuePauseReason: null }),
    ],
    updateSlurmCluster: [
      ({ SlurmCluster }) => `id: "${SlurmCluster}", region: "eu"`,
      expect.objectContaining({ region: null }),
      expect.objectContaining({ region: 'eu' }),
    ],
    updateBootProfile: [
      ({ BootProfile }) => `id: "${BootProfile}", version: 1, kernelParams: ["quiet"]`,
      expect.objectContaining({ version: 1 }),
      expect.objectContaining({ version: 2, content: expect.objectContaining({ kernelParams: ['quiet'] }) }),
    ],
    updateBootRule: [
      ({ BootRule }) => `id: "${BootRule}", priority: 7`,
      expect.objectContaining({ priority: expect.any(Number) }),
      expect.objectContaining({ priority: 7 }),
    ],
    updateSlurmConfigSnippet: [
      ({ SlurmConfigSnippet }) =>
        `id: "${SlurmConfigSnippet}", expectedVersion: 1, files: { slurmConf: "KillWait=7" }, clusterIds: [], reason: "x"`,
      expect.objectContaining({ version: 1 }),
      expect.objectContaining({ version: 2, files: { 'slurm.conf': expect.stringContaining('KillWait=7') } }),
    ],
    setOpenchamiTarget: [
      () => `smdUrl: "https://smd.test", token: "${SECRET}"`,
      null,
      expect.objectContaining({ smdUrl: 'https://smd.test', mode: 'REPORT', encrypted: { token: '[hidden]' } }),
    ],
    setLedgerSink: [
      () =>
        `url: "https://rpc.test", privateKey: "${'5'.repeat(64)}", chainId: "made-1", addressPrefix: "akash", feeDenom: "uakt"`,
      null,
      expect.objectContaining({
        chainId: 'made-1',
        encrypted: expect.not.objectContaining({ privateKey: expect.stringContaining('555') }),
      }),
    ],
    updateTenant: [({ Tenant }) => `id: "${Tenant}", maxConcurrentRuns: 4`, { maxConcurrentRuns: 3 }, { maxConcurrentRuns: 4 }],
    updateAgentSettings: [() => 'staleAfterSeconds: 90', { staleAfterSeconds: 120 }, { staleAfterSeconds: 90 }],
    updateLedgerSettings: [() => 'isEnabled: true', { isEnabled: false }, { isEnabled: true }],
    // The last one: nobody has access afterwards.
    suspendTenant: [
      ({ Tenant }) => `id: "${Tenant}"`,
      { suspendedAt: null, suspendedByName: null },
      { suspendedAt: expect.any(String), suspendedByName: expect.any(String) },
    ],
  }
  /** Mutations with such a name that API tokens cannot use, or that start an operation: their tests check what they record. */
  const WITHOUT_ROW = ['setPassword', 'renamePasskey', 'setSlurmPowerSaving']

  test.each(Object.entries(UPDATES))('%s has the changed fields, with secrets masked', async (name, [input, before, after]) => {
    const fields = input(ids)
    const caller = name.endsWith('Tenant')
      ? tenant.installationAdmin
      : name === 'setMaxConcurrentRuns'
        ? update.installationAdmin
        : update.owner
    // Creates the token before, because that is recorded too.
    await t.tokenOf(caller)
    const [row] = await rowsOf(() =>
      t
        .ask(caller, `mutation { it: ${name}${fields && `(input: { ${fields} })`} { __typename ... on Error { message } } }`)
        .then((data) => expect((data as { it: object }).it).toEqual({ __typename: expect.stringMatching(/Payload$/) })),
    )
    expect({ before: row!.before, after: row!.after }).toEqual({ before, after })
    expect(JSON.stringify(row)).not.toContain(SECRET)
  })

  test('every update has a case', () => {
    const updates = MUTATIONS.filter((name) => /^(update|set|change|rename|suspend|pause|archive)[A-Z]/.test(name))
    expect(updates.filter((name) => !(name in UPDATES) && !WITHOUT_ROW.includes(name))).toEqual([])
  })
})

describe('public mutations', () => {
  type Answer = { __typename: string; sessionToken: string; uri: string; challenge: string; secret: string }
  const SESSION = 'sessionToken'
  async function call(name: string, input: object | null, fields = '', token?: string) {
    const type = name[0]!.toUpperCase() + name.slice(1)
    const { it } = await t.ask<{ it: Answer }>(
      { headers: { 'x-muster-peer': '203.0.113.20', ...(token && { authorization: `Bearer ${token}` }) } },
      `mutation ${input ? `($input: ${type}Input!)` : ''} { it: ${name}${input ? '(input: $input)' : ''} { __typename
        ... on Error { message } ${fields.startsWith('...') ? fields : fields && `... on ${type}Payload { ${fields} }`} } }`,
      input ? { input } : {},
    )
    return it
  }
  /** Those that succeed without a session change nothing, so that they leave no row. */
  const STEPS = ['pollDeviceSignIn', 'signOut', 'startDeviceSignIn', 'startPasskeySignIn']

  test.each(PUBLIC_OPERATIONS)('$name of a caller without rights leaves one row with its outcome', async (operation) => {
    const name = operation.name.split('.')[1]!
    let typenames: string[] = []
    const rows = await rowsOf(async () => {
      const data = await t.ask<Record<string, { __typename: string }>>(
        { headers: { 'x-muster-peer': '203.0.113.21' } },
        operation.document,
        variablesFor(operation, named),
      )
      typenames = Object.values(data).map((each) => each.__typename)
    })
    const outcomes = typenames.map(expectedOutcome)
    expect(rows.map(({ outcome }) => outcome)).toEqual(STEPS.includes(name) && outcomes[0] === 'succeeded' ? [] : outcomes)
    for (const row of rows) {
      expect(row).toMatchObject({ actorKind: 'anonymous', address: '203.0.113.21', requestId: expect.any(String) })
      expect(ACTIONS).toContain(row.action)
    }
  })

  const PASSWORD = 'correct horse battery'
  let email: string
  let users = 0
  let session: string
  beforeEach(async () => {
    email = `public${++users}@muster.test`
    const { id } = await t.auth.ensureUser(email, 'Ada')
    await t.runtime.db.insert(tables.members).values({ tenantId: tenant.tenant.id, userId: id, role: 'viewer' })
    session = (await insertSession(t.runtime.db, id)).token
  })
  const setPassword = () => call('setPassword', { password: PASSWORD }, '', session)
  const signIn = () =>
    call(
      'signIn',
      { email, password: PASSWORD },
      `... on SignInPayload { ${SESSION} } ... on SecondFactorRequiredError { challenge }`,
    )

  /** Prepares a success, and returns the call and the actions that it records. */
  const SUCCESSES: Record<string, () => Promise<[work: () => Promise<Answer>, actions: string[]]>> = {
    signIn: async () => {
      await setPassword()
      return [signIn, ['session.create']]
    },
    signInWithLink: async () => {
      const token = await t.auth.createSignInToken(email)
      return [() => call('signInWithLink', { token }), ['session.create']]
    },
    verifySecondFactor: async () => {
      await setPassword()
      const { uri } = await call('startTotp', { currentPassword: PASSWORD }, 'uri', session)
      await call('confirmTotp', { code: totpCode(uri, Date.now() - 30_000) }, '', session)
      const { challenge } = await signIn()
      return [() => call('verifySecondFactor', { challenge, code: totpCode(uri) }), ['totp.verify']]
    },
    signOut: async () => [() => call('signOut', null, '', session), ['session.end']],
    acceptInvitation: async () => {
      const { token } = await inviteMember(tenant.owner, { email: `new-${email}`, role: 'viewer' })
      return [
        () => call('acceptInvitation', { token, name: 'New', password: PASSWORD }),
        ['invitation.accept', 'member.add', 'session.create'],
      ]
    },
  }
  /** Tests of successes that need a mail server, an authenticator or a provider. */
  const ELSEWHERE = [
    ...['finishOidcSignIn', 'startOidcSignIn', 'signInWithLdap', 'signInWithPasskey'],
    ...['requestPasswordReset', 'resetPassword'],
  ]

  test.each(Object.entries(SUCCESSES))('%s leaves one row per effect when it succeeds', async (_name, prepare) => {
    const [work, actions] = await prepare()
    const rows = await rowsOf(async () => expect((await work()).__typename).toMatch(/Payload$/))
    expect(rows.map(({ action }) => action).sort()).toEqual(actions)
    for (const row of rows) expect(row).toMatchObject({ outcome: 'succeeded', tenantId: tenant.tenant.id })
  })

  test('every public mutation has a case', () => {
    const names = PUBLIC_OPERATIONS.map(({ name }) => name.split('.')[1]!)
    expect([...Object.keys(SUCCESSES), ...STEPS.filter((name) => !(name in SUCCESSES)), ...ELSEWHERE].sort()).toEqual(
      names.sort(),
    )
  })
})

describe('sign-in', () => {
  const signIn = (email: string, password: string) =>
    t.ask(
      { headers: { 'user-agent': 'Mozilla/5.0', 'x-muster-peer': '203.0.113.7' } },
      `mutation { it: signIn(input: { email: "${email}", password: "${password}" }) { __typename ... on SignInPayload { sessionToken } } }`,
    ) as Promise<{ it: { sessionToken: string } }>

  test('records success with session and address, the end of the session, and failures in the tenant of the user', async () => {
    const email = 'ada@muster.test'
    const { id } = await t.auth.ensureUser(email, 'Ada')
    await t.runtime.db.insert(tables.members).values({ tenantId: tenant.tenant.id, userId: id, role: 'viewer' })
    const headers = { authorization: `Bearer ${(await insertSession(t.runtime.db, id)).token}` }
    const [set] = await rowsOf(() =>
      t.ask({ headers }, 'mutation { it: setPassword(input: { password: "correct horse battery" }) { __typename } }'),
    )
    expect(set).toMatchObject({
      action: 'user.set_password',
      outcome: 'succeeded',
      actorName: 'Ada',
      sessionId: expect.any(String),
    })

    const [failed] = await rowsOf(() => signIn(email, 'wrong'))
    expect(failed).toMatchObject({
      tenantId: tenant.tenant.id,
      action: 'session.create',
      outcome: 'failed',
      actorKind: 'anonymous',
      objectName: email,
      address: '203.0.113.7',
      userAgent: 'Mozilla/5.0',
    })
    let token = ''
    const [succeeded] = await rowsOf(async () => {
      token = (await signIn(email, 'correct horse battery')).it.sessionToken
    })
    expect(succeeded).toMatchObject({
      action: 'session.create',
      outcome: 'succeeded',
      actorId: id,
      sessionId: expect.any(String),
    })
    expect(JSON.stringify(succeeded)).not.toContain(token)
    const [ended] = await rowsOf(() =>
      t.ask({ headers: { authorization: `Bearer ${token}` } }, 'mutation { it: signOut { __typename } }'),
    )
    expect(ended).toMatchObject({ action: 'session.end', outcome: 'succeeded', sessionId: succeeded!.sessionId })
  })

  test('an unknown address concerns the installation, and a flood shares one row', async () => {
    const rows = await rowsOf(async () => {
      const context = { ...t.runtime, actor: { kind: 'anonymous' as const, id: null, name: 'not signed in' }, tenantId: null }
      const origin = { channel: 'api' as const, address: '203.0.113.9', userAgent: null, sessionId: null }
      await signIn('nobody@muster.test', 'wrong')
      for (let i = 0; i < 200; i++)
        await recordAttempt({ ...context, origin }, { action: sessionAudit.create, outcome: 'failed', objectName: `user${i}` })
      await flushAttempts()
    })
    expect(rows[0]).toMatchObject({
      tenantId: null,
      action: 'session.create',
      outcome: 'failed',
      objectName: 'nobody@muster.test',
    })
    const flood = rows.slice(1)
    expect(flood.length).toBe(31)
    expect(flood.at(-1)).toMatchObject({ count: 170, address: '203.0.113.9', details: { aggregated: true } })
  })
})

describe('reading', () => {
  const list = (filter: object) =>
    t.send<{ auditEntries: { totalCount: number; edges: { node: Record<string, unknown> }[] } }>(
      tenant.owner,
      `query ($filter: AuditFilter) { auditEntries(filter: $filter, first: 5) { totalCount edges { node {
        action outcome actorName actorKind user { name } permission address objectId objectName changes { field before after } requestId seq } } } }`,
      { filter },
    )

  test('names the owner of the token that acted', async () => {
    const { apiToken } = await createApiToken(tenant.admin, { name: 'robot', role: 'admin' })
    const actor = {
      ...tenant.admin.actor,
      kind: 'token' as const,
      id: apiToken.id,
      name: 'robot',
      userId: tenant.admin.actor.id!,
    }
    const { id } = await t.given.credential({ ...tenant.admin, actor } as typeof tenant.admin, 'SSH_KEY')
    const { data } = await list({ objectId: globalId('Credential', id) })
    expect(data.auditEntries.edges).toMatchObject([
      { node: { actorKind: 'TOKEN', actorName: 'robot', user: { name: tenant.admin.actor.name } } },
    ])
  })

  test('filters by action, outcome, actor, object and text', async () => {
    const { id } = await t.given.credential(tenant.admin, 'SSH_KEY', { name: 'filtered' })
    const objectId = globalId('Credential', id)
    const { data } = await list({ objectId })
    expect(data.auditEntries).toMatchObject({
      totalCount: 1,
      edges: [{ node: { action: 'credential.create', objectId, objectName: 'filtered', outcome: 'SUCCEEDED' } }],
    })
    for (const filter of [
      { action: ['credential'] },
      { action: ['credential.create'] },
      { text: 'FILTERED' },
      { actor: 'admin of' },
    ])
      expect((await list({ objectId, ...filter })).data.auditEntries.totalCount, JSON.stringify(filter)).toBe(1)
    const others = [{ action: ['node'] }, { text: 'f%d' }, { outcome: ['DENIED'] }, { actorKind: ['TOKEN'] }, { address: '::1' }]
    for (const filter of others)
      expect((await list({ objectId, ...filter })).data.auditEntries.totalCount, JSON.stringify(filter)).toBe(0)
  })

  test('requires audit:read', async () => {
    for (const query of [
      '{ auditEntries { totalCount } }',
      '{ auditEntries { edges { node { action } } } }',
      '{ auditChain { lastSeq } }',
    ])
      expect((await t.send(tenant.operator, query)).errors?.[0]?.extensions.code, query).toBe('FORBIDDEN')
    await expect(auditExportEndpoint.read(tenant.operator, new URLSearchParams())).rejects.toThrow(/role|permission/)
  })

  test('one operation verifies one part of the chain', async () => {
    const { errors } = await t.send(tenant.owner, '{ a: auditChain { lastSeq } b: auditChain { lastSeq } }')
    expect(errors?.[0]?.message).toContain('resolved fields')
  })

  test('entries of the installation require an installation admin', async () => {
    const queries = [
      '{ auditEntries(filter: { ofInstallation: true }) { totalCount } }',
      '{ auditEntries(filter: { ofInstallation: true }) { edges { node { action } } } }',
      '{ auditChain(ofInstallation: true) { lastSeq } }',
    ]
    for (const query of queries) expect((await t.send(tenant.owner, query)).errors?.[0]?.extensions.code, query).toBe('FORBIDDEN')
    await sealAuditEntries(t.runtime)
    const admin = tenant.installationAdmin
    expect(await t.ask(admin, '{ auditChain(ofInstallation: true) { isValid unsealedCount } }')).toEqual({
      auditChain: { isValid: true, unsealedCount: 0 },
    })
    const { auditEntries } = await t.ask<{ auditEntries: { totalCount: number; edges: { node: object }[] } }>(
      admin,
      `{ auditEntries(filter: { ofInstallation: true, action: ["session.create"] }) {
        totalCount edges { node { action objectName } } } }`,
    )
    expect(auditEntries.totalCount).toBe(auditEntries.edges.length)
    expect(auditEntries.edges).toContainEqual({ node: { action: 'session.create', objectName: 'nobody@muster.test' } })
    const params = new URLSearchParams({ scope: 'installation' })
    await expect(auditExportEndpoint.read(tenant.owner, params)).rejects.toThrow('installation administrator')
    const lines: Record<string, unknown>[] = []
    for await (const line of await auditExportEndpoint.read(admin, params)) lines.push(JSON.parse(line))
    expect(new Set(lines.map(({ type }) => type))).toEqual(new Set(['key', 'entry', 'checkpoint']))
    expect(lines.flatMap(({ type, tenantId }) => (type === 'entry' && tenantId !== null ? [tenantId] : []))).toEqual([])
  })

  test('an export has every sealed row, verifies outside of Muster, and continues after a position', async () => {
    await sealAuditEntries(t.runtime)
    const exported = async (after: number) => {
      const lines: Record<string, unknown>[] = []
      const content = await auditExportEndpoint.read(tenant.owner, new URLSearchParams({ after: String(after) }))
      for await (const line of content) lines.push(JSON.parse(line))
      return lines
    }
    const all = await exported(0)
    const entries = all.filter(({ type }) => type === 'entry')
    let previous = '0'.repeat(64)
    for (const { type: _, hash, ...row } of entries) {
      previous = createHash('sha256')
        .update(`${previous}\n${canonicalJson(row)}`)
        .digest('hex')
      expect(previous).toBe(hash)
    }
    const end = entries.at(-1)!
    expect(await t.ask(tenant.owner, '{ auditChain { isValid lastSeq lastHash } }')).toEqual({
      auditChain: { isValid: true, lastSeq: end.seq, lastHash: end.hash },
    })
    expect((await exported(10)).filter(({ type }) => type === 'entry')).toEqual(entries.slice(10))
    expect(all.filter(({ type }) => type === 'key')).toHaveLength(1)
    expect(all.at(-1)).toMatchObject({ type: 'checkpoint', seq: end.seq, hash: end.hash })
  })
})

import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { createProof, type RegisterRequest } from '@muster/protocol'
import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { alerts } from '../alerts/index.ts'
import { auditEntries } from '../audit/index.ts'
import type { Ctx } from '../kernel/context.ts'
import { decommissionNode } from '../node-states/index.ts'
import { computeNodes } from '../nodes/index.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { allowAgentKey } from './allow-agent-key.ts'
import { approveAgentChange } from './approve-agent-change.ts'
import { createEnrollmentToken } from './create-enrollment-token.ts'
import { deregisterAgent } from './deregister-agent.ts'
import { drainAgent } from './drain-agent.ts'
import { registerAgent } from './register-agent.ts'
import { resetAgentSequence } from './reset-agent-sequence.ts'
import { resumeAgent } from './resume-agent.ts'
import { revokeAgentKey } from './revoke-agent-key.ts'
import { revokeEnrollmentToken } from './revoke-enrollment-token.ts'
import { agentEnrollmentTokens, agentKeys, agents } from './tables.ts'
import { updateAgentSettings } from './update-agent-settings.ts'

let t: TestRuntime
let fixture: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  fixture = await t.given.tenant()
})
afterAll(() => t.close())

type Keys = { privateKey: KeyObject; publicKey: string }
const makeKeys = (): Keys => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  return { privateKey, publicKey: publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64') }
}
let count = 0
const newName = () => `reg-${String(++count).padStart(3, '0')}`
const requestOf = (name: string, keys: Keys, more: Partial<RegisterRequest> = {}) => ({
  node_id: name,
  cluster_id: 'lab',
  agent_pubkey: keys.publicKey,
  ...more,
})
const proven = (name: string, keys: Keys, more: Partial<RegisterRequest> = {}) => {
  const request = requestOf(name, keys, more)
  return registerAgent(t.runtime, { ...request, proof: createProof(request, keys.privateKey, new Date()) }, '10.1.2.3')
}
const tokenOf = async (nodeId?: string, ctx: Ctx = fixture.operator) => (await createEnrollmentToken(ctx, { nodeId })).token
async function enrolled(name = newName(), keys = makeKeys()) {
  const answer = await proven(name, keys, { enrollment_token: await tokenOf() })
  if (!answer.isAccepted) throw new Error(answer.message)
  return { name, keys, nodeId: answer.nodeId }
}
const agentOf = async (nodeId: string) => (await t.runtime.db.select().from(agents).where(eq(agents.nodeId, nodeId)))[0]
const kindsOf = async (nodeId: string) =>
  (await t.runtime.db.select().from(alerts).where(eq(alerts.nodeId, nodeId)).orderBy(alerts.id)).map(({ kind, resolvedAt }) =>
    resolvedAt ? `${kind} over` : kind,
  )
const isRejected = (code: string) => expect.objectContaining({ isAccepted: false, code })
const isIn = expect.objectContaining({ isAccepted: true })

describe('registration', () => {
  test('rejects an agent without an allowed key or a token', async () => {
    const keys = makeKeys()
    expect(await registerAgent(t.runtime, requestOf(newName(), keys))).toEqual(isRejected('key_not_allowed'))
    expect(await proven(newName(), keys)).toEqual(isRejected('key_not_allowed'))
    expect(await proven(newName(), keys, { enrollment_token: `mse_${'x'.repeat(43)}` })).toEqual(isRejected('token_invalid'))
    expect(await t.runtime.db.select().from(agentKeys).where(eq(agentKeys.publicKey, keys.publicKey))).toEqual([])
  })

  test('with a token, requires proof that the agent holds the key', async () => {
    const [keys, thief] = [makeKeys(), makeKeys()]
    const request = requestOf(newName(), keys, { enrollment_token: await tokenOf() })
    expect(await registerAgent(t.runtime, request)).toEqual(isRejected('proof_invalid'))
    expect(await registerAgent(t.runtime, { ...request, proof: createProof(request, thief.privateKey, new Date()) })).toEqual(
      isRejected('proof_invalid'),
    )
    expect(
      await registerAgent(t.runtime, {
        ...request,
        proof: createProof(request, keys.privateKey, new Date(Date.now() - 600_000)),
      }),
    ).toEqual(isRejected('proof_invalid'))
    expect(await registerAgent(t.runtime, { ...request, proof: createProof(request, keys.privateKey, new Date()) })).toEqual(isIn)
  })

  test('rejects a key of small order', async () => {
    const publicKey = Buffer.concat([Buffer.from([1]), Buffer.alloc(31)]).toString('base64')
    await expect(allowAgentKey(fixture.operator, { publicKey })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: 'publicKey' }],
    })
    expect(await registerAgent(t.runtime, requestOf(newName(), { ...makeKeys(), publicKey }))).toEqual(
      isRejected('key_not_allowed'),
    )
  })

  test('accepts one of twenty concurrent registrations with one token', async () => {
    const token = await tokenOf()
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => proven(newName(), makeKeys(), { enrollment_token: token })),
    )
    expect(answers.filter((answer) => answer.isAccepted)).toHaveLength(1)
    expect(answers.filter((answer) => !answer.isAccepted && answer.code === 'token_invalid')).toHaveLength(19)
  })

  test('accepts a repeated request with the same token when the response was lost', async () => {
    const [name, keys, token] = [newName(), makeKeys(), await tokenOf()]
    expect(await proven(name, keys, { enrollment_token: token })).toEqual(isIn)
    expect(await proven(name, keys, { enrollment_token: token })).toEqual(isIn)
    expect(await proven(newName(), keys, { enrollment_token: token })).toEqual(isRejected('key_not_allowed'))
  })

  test('of two agents with one new name, accepts one and the other waits for approval', async () => {
    const name = newName()
    const tokens = [await tokenOf(), await tokenOf()]
    const answers = await Promise.all(tokens.map((enrollment_token) => proven(name, makeKeys(), { enrollment_token })))
    expect(answers).toEqual(expect.arrayContaining([isIn, isRejected('approval_pending')]))
  })

  test('rejects expired tokens, and bound tokens for other nodes', async () => {
    const [node] = await t.given.fleet(fixture.operator, { prefix: 'bound' })
    const token = await tokenOf(node!.id)
    const other = await enrolled()
    expect(await proven(other.name, makeKeys(), { enrollment_token: await tokenOf(node!.id) })).toEqual(
      isRejected('approval_pending'),
    )
    expect(await proven('quite-another', makeKeys(), { enrollment_token: token })).toEqual({ isAccepted: true, nodeId: node!.id })
    const old = await tokenOf()
    await t.runtime.db
      .update(agentEnrollmentTokens)
      .set({ expiresAt: sql`now()` })
      .where(eq(agentEnrollmentTokens.prefix, old.slice(0, 12)))
    expect(await proven(newName(), makeKeys(), { enrollment_token: old })).toEqual(isRejected('token_invalid'))
  })

  test('finds the node by name, rejects a decommissioned one, and adds a missing one', async () => {
    const [node, retired] = await t.given.fleet(fixture.operator, { prefix: 'known', nodes: 2 })
    await decommissionNode(fixture.operator, { id: retired!.id })
    expect(await proven(node!.name, makeKeys(), { enrollment_token: await tokenOf(), region: 'eu', datacenter: 'dc1' })).toEqual({
      isAccepted: true,
      nodeId: node!.id,
    })
    expect(await proven(retired!.name, makeKeys(), { enrollment_token: await tokenOf() })).toEqual(isRejected('key_not_allowed'))
    expect(await proven('localhost', makeKeys(), { enrollment_token: await tokenOf() })).toEqual(isRejected('key_not_allowed'))
    const { nodeId, name } = await enrolled()
    expect(await t.runtime.db.query.computeNodes.findFirst({ where: { id: nodeId } })).toMatchObject({
      name,
      host: '10.1.2.3',
      status: 'NEW',
    })
    expect((await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.id, node!.id)))[0]).toMatchObject({
      region: 'eu',
      datacenter: 'dc1',
    })
  })
})

test('records the provider address of a registration in the audit log', async () => {
  const answer = await proven(newName(), makeKeys(), { enrollment_token: await tokenOf(), provider_address: 'provider1abc' })
  if (!answer.isAccepted) throw new Error(answer.message)
  const [entry] = await t.runtime.db
    .select()
    .from(auditEntries)
    .where(and(eq(auditEntries.objectId, answer.nodeId), eq(auditEntries.action, 'agent.register')))
  expect(entry).toMatchObject({ details: { providerAddress: 'provider1abc' }, before: null, after: { state: 'PENDING' } })
})

describe('revokeEnrollmentToken', () => {
  const row = async (token: string) =>
    (
      await t.runtime.db
        .select()
        .from(agentEnrollmentTokens)
        .where(eq(agentEnrollmentTokens.prefix, token.slice(0, 12)))
    )[0]!

  test('revokes an unused token, which is rejected afterwards', async () => {
    const token = await tokenOf()
    const { id } = await row(token)
    expect(await revokeEnrollmentToken(fixture.operator, { id })).toMatchObject({
      revokedById: fixture.operator.actor.id,
      revokedByName: fixture.operator.actor.name,
    })
    expect(await proven(newName(), makeKeys(), { enrollment_token: token })).toEqual(isRejected('token_invalid'))
    const actions = (await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, id))).map(
      ({ action }) => action,
    )
    expect(actions).toEqual(['agent_enrollment_token.create', 'agent_enrollment_token.revoke'])
    const rejection = (message: RegExp) => ({ code: 'CONFLICT', message: expect.stringMatching(message) })
    await expect(revokeEnrollmentToken(fixture.operator, { id })).rejects.toMatchObject(rejection(/already revoked/))
    const used = await tokenOf()
    await proven(newName(), makeKeys(), { enrollment_token: used })
    await expect(revokeEnrollmentToken(fixture.operator, { id: (await row(used)).id })).rejects.toMatchObject(
      rejection(/revoke the key of the agent/),
    )
    const old = await row(await tokenOf())
    await t.runtime.db.update(agentEnrollmentTokens).set({ expiresAt: sql`now()` }).where(eq(agentEnrollmentTokens.id, old.id))
    await expect(revokeEnrollmentToken(fixture.operator, { id: old.id })).rejects.toMatchObject(rejection(/expired/))
  })

  test('of a concurrent revocation and registration only one succeeds', async () => {
    for (let i = 0; i < 5; i++) {
      const token = await tokenOf()
      const { id } = await row(token)
      const [revoked, answer] = await Promise.allSettled([
        revokeEnrollmentToken(fixture.operator, { id }),
        proven(newName(), makeKeys(), { enrollment_token: token }),
      ])
      const isLetIn = answer.status === 'fulfilled' && answer.value.isAccepted
      expect(isLetIn).toBe(revoked.status === 'rejected')
    }
  })
})

describe('a registration never replaces a key', () => {
  test('another key waits for approval, which revokes the previous key', async () => {
    const { name, nodeId, keys } = await enrolled()
    const next = makeKeys()
    expect(await proven(name, next)).toEqual(isRejected('approval_pending'))
    const token = await tokenOf()
    for (let i = 0; i < 2; i++)
      expect(await proven(name, next, { enrollment_token: token })).toEqual(isRejected('approval_pending'))
    expect(await kindsOf(nodeId)).toEqual(['key_changed'])
    expect((await agentOf(nodeId))!.keyId).toBe((await keyOf(keys)).id)
    await approveAgentChange(fixture.operator, { nodeId, keyId: (await keyOf(next)).id })
    expect(await proven(name, next)).toEqual(isIn)
    expect(await keyOf(keys)).toMatchObject({ status: 'REVOKED' })
    expect(await proven(name, keys)).toEqual(isRejected('key_not_allowed'))
    expect(await kindsOf(nodeId)).toEqual(['key_changed over'])
  })

  test('limits the waiting keys of a node', async () => {
    const { name, nodeId } = await enrolled()
    const waiting = () => t.runtime.db.$count(agentKeys, sql`node_id = ${nodeId} and status = 'WAITING'`)
    for (let i = 0; i < 4; i++) await registerAgent(t.runtime, requestOf(name, makeKeys()), '6.6.6.6')
    expect(await waiting()).toBe(2)
    expect(await registerAgent(t.runtime, requestOf(name, makeKeys()), '10.0.0.1')).toEqual(isRejected('approval_pending'))
    for (let i = 0; i < 8; i++) await registerAgent(t.runtime, requestOf(name, makeKeys()), `6.6.7.${i}`)
    expect(await waiting()).toBe(6)
  })

  test('an unsigned registration with a known name and public key changes nothing', async () => {
    const { name, nodeId, keys } = await enrolled()
    const before = await agentOf(nodeId)
    expect(
      await registerAgent(
        t.runtime,
        requestOf(name, keys, { agent_version: 'evil', region: 'evil', hardware_fingerprint: 'evil' }),
        '6.6.6.6',
      ),
    ).toEqual(isIn)
    expect(await agentOf(nodeId)).toEqual(before)
    expect(await registerAgent(t.runtime, requestOf(name, keys, { cluster_id: 'evil' }))).toEqual(isRejected('cluster_mismatch'))
  })

  test('a key without a node cannot register as a node that has an agent', async () => {
    const { name, nodeId, keys } = await enrolled()
    const free = makeKeys()
    await allowAgentKey(fixture.operator, { publicKey: free.publicKey })
    expect(await proven(name, free)).toEqual(isRejected('key_not_allowed'))
    expect((await agentOf(nodeId))!.keyId).toBe((await keyOf(keys)).id)
    expect(await registerAgent(t.runtime, requestOf(newName(), free))).toEqual(isIn)
  })

  test('an unsigned registration must use the expected name of the key', async () => {
    const [node, named] = await t.given.fleet(fixture.operator, { prefix: 'field', nodes: 2 })
    const [keys, other, free] = [makeKeys(), makeKeys(), makeKeys()]
    await allowAgentKey(fixture.operator, { publicKey: keys.publicKey, nodeId: node!.id })
    expect(await registerAgent(t.runtime, requestOf('of-my-choice', keys))).toEqual(isRejected('key_not_allowed'))
    expect(await registerAgent(t.runtime, requestOf(node!.name, keys))).toEqual({ isAccepted: true, nodeId: node!.id })
    await allowAgentKey(fixture.operator, { publicKey: other.publicKey, nodeId: named!.id, agentId: 'rack7.old-name' })
    expect(await registerAgent(t.runtime, requestOf(named!.name, other))).toEqual(isRejected('key_not_allowed'))
    expect(await registerAgent(t.runtime, requestOf('rack7.old-name', other))).toEqual({ isAccepted: true, nodeId: named!.id })
    await allowAgentKey(fixture.operator, { publicKey: free.publicKey, agentId: 'new-node' })
    expect(await registerAgent(t.runtime, requestOf('of-my-choice', free))).toEqual(isRejected('key_not_allowed'))
    expect(await registerAgent(t.runtime, requestOf('new-node', free))).toEqual(isIn)
    await expect(allowAgentKey(fixture.operator, { publicKey: free.publicKey, agentId: 'a b' })).rejects.toMatchObject({
      issues: [{ path: 'agentId' }],
    })
  })

  test('a signed registration may use any name', async () => {
    const [node] = await t.given.fleet(fixture.operator, { prefix: 'held' })
    const keys = makeKeys()
    await allowAgentKey(fixture.operator, { publicKey: keys.publicKey, nodeId: node!.id })
    expect(await proven('of-its-choice', keys)).toEqual({ isAccepted: true, nodeId: node!.id })
  })

  test('a waiting key that is revoked stays rejected', async () => {
    const { name, nodeId } = await enrolled()
    const next = makeKeys()
    await proven(name, next)
    await revokeAgentKey(fixture.operator, { id: (await keyOf(next)).id, reason: 'not ours' })
    expect(await kindsOf(nodeId)).toEqual(['key_changed over'])
    expect(await proven(name, next, { enrollment_token: await tokenOf() })).toEqual(isRejected('key_not_allowed'))
    await expect(allowAgentKey(fixture.operator, { publicKey: next.publicKey })).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(approveAgentChange(fixture.operator, { nodeId, keyId: (await keyOf(next)).id })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    })
  })

  test('rotation: both keys are valid until the agent registers with the new one', async () => {
    const { name, nodeId, keys } = await enrolled()
    const next = makeKeys()
    await allowAgentKey(fixture.operator, { publicKey: next.publicKey, nodeId })
    expect(await proven(name, keys)).toEqual(isIn)
    expect(await registerAgent(t.runtime, requestOf(name, next))).toEqual(isIn)
    expect(await proven(name, keys)).toEqual(isIn)
    expect([(await keyOf(keys)).status, (await keyOf(next)).status]).toEqual(['ALLOWED', 'ALLOWED'])
    expect(await proven(name, next)).toEqual(isIn)
    expect(await keyOf(keys)).toMatchObject({ status: 'REVOKED' })
  })

  test('an allowed key replaces a revoked one, also without a signature', async () => {
    const { name, nodeId, keys } = await enrolled()
    const next = makeKeys()
    await allowAgentKey(fixture.operator, { publicKey: next.publicKey, nodeId })
    await revokeAgentKey(fixture.operator, { id: (await keyOf(keys)).id, reason: 'lost' })
    expect(await registerAgent(t.runtime, requestOf(name, next))).toEqual(isIn)
    expect((await agentOf(nodeId))!.keyId).toBe((await keyOf(next)).id)
  })

  test('other hardware waits for approval', async () => {
    const keys = makeKeys()
    const name = newName()
    const answer = await proven(name, keys, { enrollment_token: await tokenOf(), hardware_fingerprint: 'f1' })
    const { nodeId } = answer as { nodeId: string }
    expect(await proven(name, keys, { hardware_fingerprint: 'f2' })).toEqual(isRejected('approval_pending'))
    expect(await agentOf(nodeId)).toMatchObject({ fingerprint: 'f1', offeredFingerprint: 'f2' })
    await expect(approveAgentChange(fixture.operator, { nodeId, fingerprint: 'f3' })).rejects.toMatchObject({ code: 'CONFLICT' })
    await approveAgentChange(fixture.operator, { nodeId, fingerprint: 'f2' })
    expect(await agentOf(nodeId)).toMatchObject({ fingerprint: 'f2', offeredFingerprint: null })
    expect(await kindsOf(nodeId)).toEqual(['fingerprint_changed over'])
    const entries = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, nodeId))
    expect(entries.find(({ action }) => action === 'agent.offer_fingerprint')).toMatchObject({
      before: { offeredFingerprint: null },
      after: { offeredFingerprint: 'f2' },
    })
  })
})

test('a deregistered name can be enrolled only with a new key', async () => {
  const { name, nodeId, keys } = await enrolled()
  expect(await deregisterAgent(fixture.operator, { nodeId, reason: 'sold' })).toMatchObject({ state: 'DEREGISTERED' })
  await expect(deregisterAgent(fixture.operator, { nodeId })).rejects.toMatchObject({ code: 'CONFLICT' })
  await expect(drainAgent(fixture.operator, { nodeId, reason: 'x' })).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await proven(name, keys)).toEqual(isRejected('key_not_allowed'))
  expect(await proven(name, keys, { enrollment_token: await tokenOf() })).toEqual(isRejected('key_not_allowed'))
  expect(await proven(name, makeKeys())).toEqual(isRejected('key_not_allowed'))
  expect(await proven(name, makeKeys(), { enrollment_token: await tokenOf() })).toEqual({ isAccepted: true, nodeId })
  await deregisterAgent(fixture.operator, { nodeId })
  const again = makeKeys()
  await allowAgentKey(fixture.operator, { publicKey: again.publicKey, nodeId })
  expect(await registerAgent(t.runtime, requestOf(name, again))).toEqual({ isAccepted: true, nodeId })
  expect(await agentOf(nodeId)).toMatchObject({ state: 'PENDING', stateReason: 'registered' })
  const timeline = await t.runtime.db.query.agentTransitions.findMany({ where: { nodeId }, orderBy: { id: 'asc' } })
  expect(timeline.map(({ from, to }) => [from, to])).toEqual([
    [null, 'PENDING'],
    ['PENDING', 'DEREGISTERED'],
    [null, 'PENDING'],
    ['PENDING', 'DEREGISTERED'],
    [null, 'PENDING'],
  ])
})

test('an OFFLINE agent that registers again is PENDING until its next heartbeat', async () => {
  const { name, nodeId, keys } = await enrolled()
  await t.runtime.db.update(agents).set({ state: 'OFFLINE' }).where(eq(agents.nodeId, nodeId))
  await proven(name, keys)
  expect(await agentOf(nodeId)).toMatchObject({ state: 'PENDING', stateReason: 'registered_again' })
})

test('rejects viewers, and tokens, keys and agents of another tenant', async () => {
  const { nodeId, keys } = await enrolled()
  const theirs = await t.given.tenant()
  const keyId = (await keyOf(keys)).id
  const tokenId = (await createEnrollmentToken(fixture.operator, {})).enrollmentToken.id
  const verbs: ((ctx: Ctx) => Promise<unknown>)[] = [
    (ctx) => createEnrollmentToken(ctx, { nodeId }),
    (ctx) => allowAgentKey(ctx, { publicKey: makeKeys().publicKey, nodeId }),
    (ctx) => revokeEnrollmentToken(ctx, { id: tokenId }),
    (ctx) => approveAgentChange(ctx, { nodeId, keyId }),
    (ctx) => revokeAgentKey(ctx, { id: keyId, reason: 'x' }),
    (ctx) => drainAgent(ctx, { nodeId, reason: 'x' }),
    (ctx) => resumeAgent(ctx, { nodeId }),
    (ctx) => resetAgentSequence(ctx, { nodeId }),
    (ctx) => deregisterAgent(ctx, { nodeId }),
  ]
  for (const verb of verbs) {
    await expect(verb(theirs.owner)).rejects.toMatchObject({ code: expect.stringMatching(/^(NOT_FOUND|INVALID_INPUT)$/) })
    await expect(verb(fixture.viewer)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  }
  await expect(updateAgentSettings(fixture.operator, {})).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect(await agentOf(nodeId)).toMatchObject({ state: 'PENDING' })
})

async function keyOf({ publicKey }: Keys) {
  const [key] = await t.runtime.db.select().from(agentKeys).where(eq(agentKeys.publicKey, publicKey))
  return key!
}

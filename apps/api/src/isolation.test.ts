import { graphqlIds } from '@muster/core/registry'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TypeName } from './graphql/shared/ids.ts'
import { schema } from './schema.ts'
import { testApi } from './testing/api.ts'
import { createVictim, type IsolationCase, type Known, loadIsolations } from './testing/isolation.ts'

const isolations = await loadIsolations()
const TYPES = [...Object.keys(graphqlIds), 'Tenant', 'User', 'Worker', 'Session', 'Passkey'] as TypeName[]
/** Expected response to the stranger for each root field that is not public. */
const CASES: Record<string, IsolationCase> = Object.assign(
  {
    'Query.node': {
      query: ({ theirs }: Known) => `{ ${TYPES.map((type) => `${type}: node(id: "${theirs[type]}") { id }`).join(' ')} }`,
      answer: Object.fromEntries(TYPES.map((type) => [type, null])),
    },
  },
  ...isolations.map(({ cases }) => cases),
)

let t: Awaited<ReturnType<typeof testApi>>
let known: Known
beforeAll(async () => {
  t = await testApi()
  known = (await createVictim(t, isolations)).known
})
afterAll(() => t?.close())

/** The owner of another tenant, who also administers the installation: the strongest caller. Each case has its own, so that cases do not depend on each other. */
const createStranger = async ({ isOwner }: IsolationCase) => (await t.given.tenant())[isOwner ? 'owner' : 'installationAdmin']

test('has an object of every type with a global ID', () => {
  expect(Object.keys(known.theirs).sort()).toEqual([...TYPES].sort())
})

test('has a case for every root field', () => {
  const open = new Set([
    'viewer',
    'openInvitation',
    'signIn',
    'signInMethods',
    'signInWithLdap',
    'signInWithLink',
    'signInWithPasskey',
    'startPasskeySignIn',
    'startDeviceSignIn',
    'pollDeviceSignIn',
    'verifySecondFactor',
    'signOut',
    'startOidcSignIn',
    'finishOidcSignIn',
    'acceptInvitation',
    'requestPasswordReset',
    'resetPassword',
  ])
  const roots = [schema.getQueryType()!, schema.getMutationType()!, schema.getSubscriptionType()!]
  const fields = roots.flatMap((root) =>
    Object.keys(root.getFields())
      .filter((name) => !open.has(name))
      .map((name) => `${root.name}.${name}`),
  )
  expect(Object.keys(CASES).sort()).toEqual(fields.sort())
})

test.each(Object.keys(CASES).filter((name) => !name.startsWith('Subscription')))(
  '%s exposes nothing to another tenant',
  async (name) => {
    const { query, answer, code } = CASES[name]!
    const { data, errors } = await t.send(await createStranger(CASES[name]!), query(known))
    if (code) expect(errors?.[0]?.extensions.code).toBe(code)
    else {
      expect(errors).toBeUndefined()
      expect(data).toEqual(answer)
    }
  },
)

test.each(Object.keys(CASES).filter((name) => name.startsWith('Subscription')))(
  '%s streams nothing to another tenant',
  async (name) => {
    const { query, code } = CASES[name]!
    const response = await t.api.yoga.fetch('https://muster.test/graphql', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${await t.tokenOf(await createStranger(CASES[name]!))}`,
      },
      body: JSON.stringify({ query: query(known) }),
    })
    const text = await response.text()
    const data = [...text.matchAll(/^data: (\{.+\})$/gm)].map(
      ([, json]) => JSON.parse(json!) as { errors?: { extensions: { code: string } }[] },
    )
    if (code) expect(data[0]!.errors![0]!.extensions.code).toBe(code)
    else expect(data).toEqual([])
  },
)

test('rejects every operation without authentication', async () => {
  for (const [name, { query }] of Object.entries(CASES)) {
    if (name.startsWith('Subscription')) continue
    const { data, errors } = await t.send<Record<string, { __typename?: string } | null> | never>(null, query(known))
    const rejected =
      errors?.every(({ extensions }) => extensions.code === 'UNAUTHENTICATED') ??
      Object.values(data).every((each) => each?.__typename === 'UnauthenticatedError')
    expect(rejected, name).toBe(true)
  }
})

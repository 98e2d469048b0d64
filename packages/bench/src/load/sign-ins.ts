import { median } from '../compare.ts'

const SIGN_IN =
  'mutation ($input: SignInInput!) { signIn(input: $input) { __typename ... on SignInPayload { sessionToken } ... on Error { message } } }'
const SET_PASSWORD = 'mutation ($input: SetPasswordInput!) { setPassword(input: $input) { __typename ... on Error { message } } }'

/** Attempts after which an account is throttled. */
const ACCOUNT_LIMIT = 10
const ATTACKERS = 4

/** Sign-ins at an API that trusts the client addresses of a proxy. `seed` makes addresses and accounts unique. */
export function createSignIns(url: string, seed: () => number) {
  let addresses = 0
  const newAddress = () => `198.18.${(++addresses >> 8) & 255}.${addresses & 255}`
  async function send(query: string, input: object, headers: Record<string, string>): Promise<string> {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, variables: { input } }),
    })
    const { data, errors } = (await response.json()) as {
      data: Record<string, { __typename: string; message?: string }>
      errors?: { message: string }[]
    }
    if (errors) throw new Error(errors.map(({ message }) => message).join('; '))
    return Object.values(data)[0]!.__typename
  }
  const signIn = (email: string, password: string, address: string) =>
    send(SIGN_IN, { email, password }, { 'x-forwarded-for': address })

  async function expectEach(expected: string, count: number, attempt: () => Promise<string>): Promise<void> {
    for (let i = 0; i < count; i++) {
      const got = await attempt()
      if (got !== expected) throw new Error(`a sign-in ended with ${got}; expected ${expected}`)
    }
  }
  const refused = { email: `victim-${seed()}@bench.test`, address: newAddress() }
  const attempt = () => signIn(refused.email, 'a wrong password', refused.address)

  return {
    async setPassword(session: string, password: string): Promise<void> {
      const result = await send(SET_PASSWORD, { password }, { authorization: `Bearer ${session}` })
      if (result !== 'SetPasswordPayload') throw new Error(`the password was not set: ${result}`)
    },
    /** Attempts until the account is throttled. */
    async exhaust(): Promise<void> {
      await expectEach('UnauthenticatedError', ACCOUNT_LIMIT, attempt)
      await expectEach('UnavailableError', 1, attempt)
    },
    /** Sends attempts that are refused before their password is checked. */
    refuse: (count: number) => expectEach('UnavailableError', count, attempt),
    /** Sends attempts with wrong passwords, each of another client for another account. */
    reject: (count: number) =>
      expectEach('UnauthenticatedError', count, () => signIn(`user-${seed()}@bench.test`, 'a wrong password', newAddress())),
    /** Signs in `count` times. @returns median in ms */
    async signIn(email: string, password: string, count: number): Promise<number> {
      const times: number[] = []
      await expectEach('SignInPayload', count, async () => {
        const began = performance.now()
        const result = await signIn(email, password, newAddress())
        times.push(performance.now() - began)
        return result
      })
      return median(times)
    },
    /** Runs `work` while clients send attempts that are refused. */
    async underAttack<T>(work: () => Promise<T>): Promise<T> {
      let hasEnded = false
      const attackers = Array.from({ length: ATTACKERS }, async () => {
        while (!hasEnded) await expectEach('UnavailableError', 1, attempt)
      })
      try {
        return await work()
      } finally {
        hasEnded = true
        await Promise.all(attackers)
      }
    },
  }
}

import { hashToken } from '@muster/core/access'
import type { drizzleAdapter } from 'better-auth/adapters/drizzle'

type AdapterFactory = ReturnType<typeof drizzleAdapter>
type Adapter = ReturnType<AdapterFactory>
type Condition = { field: string; value: unknown }
type Call = { model?: string; where?: Condition[]; data?: Record<string, unknown>; update?: Record<string, unknown> }

/**
 * Stores session tokens as hashes only. better-auth has no option for this. It works with plain tokens, and the database sees hashes.
 * A row found by another field has the hash as its token.
 */
export const withHashedSessions =
  (create: AdapterFactory): AdapterFactory =>
  (options) =>
    hashing(create(options))

function hashing<A extends Partial<Adapter>>(adapter: A): A {
  const entries = Object.entries(adapter).map(([name, member]) => {
    if (typeof member !== 'function') return [name, member]
    const call = member as (args: unknown) => unknown
    if (name === 'transaction') return [name, (work: (tx: Adapter) => unknown) => call((tx: Adapter) => work(hashing(tx)))]
    return [name, (args: Call) => (args?.model === 'session' ? callWithHashes(call, args) : call(args))]
  })
  return Object.fromEntries(entries) as A
}

async function callWithHashes(call: (args: unknown) => unknown, args: Call): Promise<unknown> {
  const plainTokens = new Map<string, string>()
  const hash = (token: string) => {
    const hashed = hashToken(token)
    plainTokens.set(hashed, token)
    return hashed
  }
  const hashValue = (value: unknown) => (Array.isArray(value) ? value.map((each) => hash(String(each))) : hash(String(value)))
  const hashField = (fields: Record<string, unknown> | undefined) =>
    fields && 'token' in fields ? { ...fields, token: hashValue(fields.token) } : fields
  const result = await call({
    ...args,
    ...(args.where && {
      where: args.where.map((each) => (each.field === 'token' ? { ...each, value: hashValue(each.value) } : each)),
    }),
    ...(args.data && { data: hashField(args.data) }),
    ...(args.update && { update: hashField(args.update) }),
  })
  const restore = (row: unknown) => {
    const plain = plainTokens.get((row as { token?: string } | null)?.token ?? '')
    return plain === undefined ? row : { ...(row as object), token: plain }
  }
  return Array.isArray(result) ? result.map(restore) : restore(result)
}

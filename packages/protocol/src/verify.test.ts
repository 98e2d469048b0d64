import { sign } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  add,
  B,
  challenge,
  decode,
  decodeNumber,
  encode,
  encodeNumber,
  L,
  P,
  same,
  smallOrder,
  times,
  ZERO,
} from '../test/curve.ts'
import { makeVectors, type SignatureVector } from '../test/vectors.ts'
import wycheproof from '../test/wycheproof-ed25519.json' with { type: 'json' }
import vectors from '../vectors.json' with { type: 'json' }
import { newIdentity, publicKey, RefusedKey } from './index.ts'
import { EQUATIONS, verify } from './verify.ts'

test('the vectors are those that are made', () => {
  expect(JSON.parse(JSON.stringify(makeVectors()))).toEqual(vectors)
})

test.each(vectors.refused_keys)('refuses as a key: $name', ({ public_key }) => {
  expect(() => publicKey(public_key)).toThrow(RefusedKey)
})

test('libsodium is there on the platforms that we test on', () => {
  expect(EQUATIONS).toHaveLength(2)
})

test.each(vectors.signatures)('$name: $valid', (vector) => {
  expect(holds(vector)).toEqual([vector.valid, vector.valid])
  expect(byTheBook(vector)).toBe(vector.valid)
})

test('of Wycheproof’s vectors those hold that are valid', () => {
  const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64')
  const all = wycheproof.groups.flatMap(({ key, tests }) => tests.map((each) => ({ ...each, key })))
  expect(all).toHaveLength(151)
  const wrong = all.filter(
    ({ key, message, signature, valid }) =>
      `${holds({ public_key: base64(key), message: base64(message), signature: base64(signature) })}` !== `${[valid, valid]}`,
  )
  expect(wrong).toEqual([])
})

test('keys of small order would verify what nobody signed, were they let in', () => {
  const crafted = vectors.signatures.filter(({ name }) => name.startsWith('key of small order'))
  expect(crafted).toHaveLength(8)
  for (const { public_key, message, signature } of crafted) {
    const key = Buffer.from(public_key, 'base64')
    const bytes = Buffer.from(signature, 'base64')
    const k = challenge(bytes.subarray(0, 32), key, Buffer.from(message, 'base64'))
    expect(encode(add(times(decodeNumber(bytes.subarray(32)), B), times(L * 8n - k, decode(key)!)))).toEqual(
      bytes.subarray(0, 32),
    )
  }
})

test('says the same as the equation, whatever is done to a signature', () => {
  const { privateKey, publicKey: key } = newIdentity()
  const torsion = smallOrder()
  const change = fc.oneof(
    fc.constant((bytes: Buffer) => bytes),
    fc.tuple(fc.nat(63), fc.nat(7)).map(
      ([at, bit]) =>
        (bytes: Buffer) =>
          bytes.map((byte, i) => (i === at ? byte ^ (1 << bit) : byte)) as Buffer,
    ),
    fc.integer({ min: 1, max: 15 }).map((n) => (bytes: Buffer) => {
      const S = decodeNumber(bytes.subarray(32)) + BigInt(n) * L
      return Buffer.concat([bytes.subarray(0, 32), encodeNumber(S)])
    }),
    fc.nat(7).map((i) => (bytes: Buffer) => {
      return Buffer.concat([encode(add(decode(bytes)!, torsion[i]!)), bytes.subarray(32)])
    }),
    fc.uint8Array({ minLength: 64, maxLength: 64 }).map((other) => () => Buffer.from(other)),
  )
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 64 }), change, (message, changed) => {
      const signature = changed(sign(null, message, privateKey)).toString('base64')
      const vector = { public_key: key.base64, message: Buffer.from(message).toString('base64'), signature }
      const expected = byTheBook(vector)
      expect(holds(vector)).toEqual([expected, expected])
    }),
    { numRuns: process.env.MUSTER_LONG_TESTS ? 20_000 : 60 },
  )
})

type Vector = Omit<SignatureVector, 'name' | 'valid'>

/** What each library says of it. */
function holds({ public_key, message, signature }: Vector): boolean[] {
  return EQUATIONS.map((equation) => {
    try {
      return verify(Buffer.from(message, 'base64'), signature, publicKey(public_key), equation)
    } catch (error) {
      if (error instanceof RefusedKey) return false
      throw error
    }
  })
}

/** The accept set as verify.ts says it, in plain arithmetic. */
function byTheBook({ public_key, message, signature }: Vector): boolean {
  const [key, bytes] = [Buffer.from(public_key, 'base64'), Buffer.from(signature, 'base64')]
  if (key.length !== 32 || bytes.length !== 64 || bytes.toString('base64') !== signature) return false
  const [r, S] = [bytes.subarray(0, 32), decodeNumber(bytes.subarray(32))]
  const isCanonical = (each: Buffer) => (decodeNumber(each) & (2n ** 255n - 1n)) < P
  const [R, A] = [decode(r), decode(key)]
  if (!R || !A || S >= L || !isCanonical(r) || !isCanonical(key)) return false
  if ([R, A].some((point) => same(times(8n, point), ZERO))) return false
  return same(times(S, B), add(R, times(challenge(r, key, Buffer.from(message, 'base64')), A)))
}

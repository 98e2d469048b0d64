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
import { InvalidKeyError, newIdentity, publicKey } from './index.ts'
import { IMPLEMENTATIONS, verify } from './verify.ts'

test('vectors.json matches its generator', () => {
  expect(JSON.parse(JSON.stringify(makeVectors()))).toEqual(vectors)
})

test.each(vectors.rejected_keys)('rejects the public key: $name', ({ public_key }) => {
  expect(() => publicKey(public_key)).toThrow(InvalidKeyError)
})

test('libsodium is available on tested platforms', () => {
  expect(IMPLEMENTATIONS).toHaveLength(2)
})

test.each(vectors.signatures)('$name: $valid', (vector) => {
  expect(verifyWithAll(vector)).toEqual([vector.valid, vector.valid])
  expect(referenceVerify(vector)).toBe(vector.valid)
})

test('matches the Wycheproof vectors', () => {
  const base64 = (hex: string) => Buffer.from(hex, 'hex').toString('base64')
  const all = wycheproof.groups.flatMap(({ key, tests }) => tests.map((vector) => ({ ...vector, key })))
  expect(all).toHaveLength(151)
  const wrong = all.filter(
    ({ key, message, signature, valid }) =>
      `${verifyWithAll({ public_key: base64(key), message: base64(message), signature: base64(signature) })}` !==
      `${[valid, valid]}`,
  )
  expect(wrong).toEqual([])
})

test('keys of small order satisfy the equation without a secret, hence their rejection', () => {
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

test('matches the reference implementation for mutated signatures', () => {
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
      const expected = referenceVerify(vector)
      expect(verifyWithAll(vector)).toEqual([expected, expected])
    }),
    { numRuns: process.env.MUSTER_LONG_TESTS ? 20_000 : 60 },
  )
})

type Vector = Omit<SignatureVector, 'name' | 'valid'>

/** Result of each implementation. */
function verifyWithAll({ public_key, message, signature }: Vector): boolean[] {
  return IMPLEMENTATIONS.map((equation) => {
    try {
      return verify(Buffer.from(message, 'base64'), signature, publicKey(public_key), equation)
    } catch (error) {
      if (error instanceof InvalidKeyError) return false
      throw error
    }
  })
}

/** The accept set of verify.ts in plain arithmetic. */
function referenceVerify({ public_key, message, signature }: Vector): boolean {
  const [key, bytes] = [Buffer.from(public_key, 'base64'), Buffer.from(signature, 'base64')]
  if (key.length !== 32 || bytes.length !== 64 || bytes.toString('base64') !== signature) return false
  const [r, S] = [bytes.subarray(0, 32), decodeNumber(bytes.subarray(32))]
  const isCanonical = (encoded: Buffer) => (decodeNumber(encoded) & (2n ** 255n - 1n)) < P
  const [R, A] = [decode(r), decode(key)]
  if (!R || !A || S >= L || !isCanonical(r) || !isCanonical(key)) return false
  if ([R, A].some((point) => same(times(8n, point), ZERO))) return false
  return same(times(S, B), add(R, times(challenge(r, key, Buffer.from(message, 'base64')), A)))
}

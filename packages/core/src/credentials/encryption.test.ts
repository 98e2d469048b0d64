import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FAULT_TIMEOUT, scaleIterations } from '../testing/scale-iterations.ts'
import { encrypt, open, recordVersion } from './encryption.ts'

// Made by another implementation, Python's cryptography. PBKDF2-SHA256 of `correct horse battery staple`: salt 00..0f, 600,000
// rounds. HKDF-SHA256: salt 10..1f, info `muster credential record`. AES-256-GCM: nonce 00..0b.
const KEK = Buffer.from('ef177144eec9420cbc1093d2a8b344a92bc506d0d4ec9c028dd19f8324d8c1e6', 'hex')
const RECORD = 'BxAREhMUFRYXGBkaGxwdHh8AAQIDBAUGBwgJCgtTZkesmsCo+jQjEKxH4fcI0xRTpToPiV6gyz1Emw=='
const CONTEXT = {
  tenantId: '0193f0a0-0000-7000-8000-000000000001',
  objectId: '0193f0a0-0000-7000-8000-000000000002',
  field: 'password',
}

test('decrypts a record of another implementation', () => {
  expect(recordVersion(RECORD)).toBe(7)
  expect(open(KEK, CONTEXT, RECORD)).toBe('s3cret – ü')
})

test('decrypts its own records, and encrypts the same text differently each time', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 255 }), (text, version) => {
      const [one, two] = [encrypt(KEK, version, CONTEXT, text), encrypt(KEK, version, CONTEXT, text)]
      expect(open(KEK, CONTEXT, one)).toBe(text)
      expect(one).not.toBe(two)
    }),
  )
})

describe('does not decrypt', () => {
  const record = encrypt(KEK, 1, CONTEXT, 'secret')

  const RECORDS = scaleIterations(1000, 0.01)
  const place = fc.record({ tenantId: fc.uuid(), objectId: fc.uuid(), field: fc.constantFrom('password', 'passphrase', 'token') })
  const records = fc.array(fc.record({ place, text: fc.string(), version: fc.integer({ min: 1, max: 255 }) }), {
    minLength: Math.max(RECORDS, 2),
    maxLength: Math.max(RECORDS, 2),
  })

  test(`any of ${RECORDS} records with any bit changed`, { timeout: FAULT_TIMEOUT }, () => {
    for (const { place, text, version } of fc.sample(records, 1)[0]!) {
      const bytes = Buffer.from(encrypt(KEK, version, place, text), 'base64')
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const changed = Buffer.from(bytes)
        changed[bit >> 3]! ^= 1 << (bit & 7)
        expect(() => open(KEK, place, changed.toString('base64'))).toThrow(/cannot be decrypted/)
      }
    }
  })

  test('a record at the place of another one, or with the version of another one', () => {
    const sample = fc.sample(records, 1)[0]!
    const all = sample.map(({ place, text, version }) => ({ place, version, record: encrypt(KEK, version, place, text) }))
    for (const [i, { place, record, version }] of all.entries()) {
      const other = all[(i + 1) % all.length]!
      for (const part of ['tenantId', 'objectId', 'field'] as const) {
        if (other.place[part] === place[part]) continue
        expect(() => open(KEK, { ...place, [part]: other.place[part] }, record)).toThrow(/cannot be decrypted/)
      }
      expect(() => open(KEK, other.place, record)).toThrow(/cannot be decrypted/)
      if (other.version === version) continue
      const bytes = Buffer.from(record, 'base64')
      bytes[0] = other.version
      expect(() => open(KEK, place, bytes.toString('base64'))).toThrow(/cannot be decrypted/)
    }
  })

  test('a truncated record', () => {
    for (let length = 0; length < Buffer.from(record, 'base64').length; length++)
      expect(() => open(KEK, CONTEXT, Buffer.from(record, 'base64').subarray(0, length).toString('base64'))).toThrow()
  })

  test.each([
    ['another tenant', { ...CONTEXT, tenantId: CONTEXT.objectId }],
    ['another credential', { ...CONTEXT, objectId: CONTEXT.tenantId }],
    ['another field', { ...CONTEXT, field: 'passphrase' }],
    ['parts that join to the same text', { ...CONTEXT, tenantId: `${CONTEXT.tenantId}","x`, objectId: '' }],
  ])('for %s', (_what, place) => {
    expect(() => open(KEK, place, record)).toThrow(/cannot be decrypted/)
  })

  test('a record with another key', () => {
    expect(() => open(Buffer.alloc(32), CONTEXT, record)).toThrow(/cannot be decrypted/)
  })
})

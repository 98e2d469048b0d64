import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { openCheckpoint, signCheckpoint, verifierKey } from './checkpoint.ts'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const key = { name: 'log', publicKey: publicKey.export({ format: 'der', type: 'spki' }).subarray(-32) }
const checkpoint = { origin: 'log', size: 12, root: Buffer.alloc(32, 7), time: '2026-11-24T10:00:00.000Z' }

describe('a checkpoint', () => {
  it('opens with its key', () => {
    const note = signCheckpoint(checkpoint, privateKey)
    expect(note.split('\n')[1]).toBe('12')
    expect(openCheckpoint(note, [verifierKey(key)])).toEqual(checkpoint)
  })

  it('has the verifier key and signature format of Go’s package note', () => {
    // The documented example: its text is no checkpoint, and so has no origin that is the name of the key.
    const verifier = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW'
    const publicKey = Buffer.from(verifier.split('+').slice(2).join('+'), 'base64').subarray(1)
    expect(verifierKey({ name: 'PeterNeumann', publicKey })).toBe(verifier)
    const signature = Buffer.from(
      'x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=',
      'base64',
    )
    expect(signature.subarray(0, 4).toString('hex')).toBe('c74f20a3')
    expect(() => openCheckpoint('text\n\n— PeterNeumann x08go/ZJ\n', [verifier])).toThrow('None of the given keys')
  })

  it('of another log is rejected, although its signature line has the name of this one', () => {
    const other = signCheckpoint({ ...checkpoint, origin: 'other' }, privateKey)
    const line = signCheckpoint(checkpoint, privateKey).split('\n').at(-2)!
    const hash = Buffer.from(line.split(' ')[2]!, 'base64').subarray(0, 4)
    const signature = Buffer.from(other.split('\n').at(-2)!.split(' ')[2]!, 'base64').subarray(4)
    const forged = other.replace(/— .*/, `— log ${Buffer.concat([hash, signature]).toString('base64')}`)
    expect(() => openCheckpoint(forged, [verifierKey(key)])).toThrow('None of the given keys')
  })

  it('is rejected with another key, after a change and without a signature', () => {
    const note = signCheckpoint(checkpoint, privateKey)
    const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' }).subarray(-32)
    const keys = [verifierKey(key)]
    expect(() => openCheckpoint(note, [verifierKey({ name: 'log', publicKey: other })])).toThrow('None of the given keys')
    expect(() => openCheckpoint(note, [verifierKey({ ...key, name: 'other' })])).toThrow('None of the given keys')
    expect(() => openCheckpoint(note.replace('\n12\n', '\n13\n'), keys)).toThrow('None of the given keys')
    expect(() => openCheckpoint(note.slice(0, note.indexOf('—')), keys)).toThrow('no signature')
    expect(() => openCheckpoint(note, ['log+00000000+AAAA'])).toThrow('not a verifier key')
  })
})

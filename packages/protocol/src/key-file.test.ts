import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, test } from 'vitest'
import vectors from '../vectors.json' with { type: 'json' }
import { readKeyFile, sign, verify, writeKeyFile } from './index.ts'

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'key-file-'))
afterAll(() => fs.rmSync(folder, { recursive: true }))
let fileCount = 0
const createFile = (content: unknown, mode = 0o600) => {
  const file = path.join(folder, `${fileCount++}.key`)
  fs.writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content), { mode })
  return file
}

test('writes a key file with mode 0600, reads it back and never overwrites it', () => {
  const file = path.join(folder, 'new.key')
  const { publicKey } = writeKeyFile(file)
  expect(fs.statSync(file).mode & 0o777).toBe(0o600)
  const read = readKeyFile(file)
  expect(read.publicKey.base64).toBe(publicKey.base64)
  const message = Buffer.from('x')
  expect(verify(message, sign(message, read.privateKey, new Date(0)).signature, publicKey)).toBe(true)
  expect(() => writeKeyFile(file)).toThrow('EEXIST')
})

test('reads the key file of a third-party agent', () => {
  expect(readKeyFile(createFile(vectors.key)).publicKey.base64).toBe(vectors.key.public_key)
})

test.each([
  ['a file readable by others', vectors.key, 0o640, /chmod 600/],
  ['invalid JSON', 'PRIVATE KEY', 0o600, /not valid JSON/],
  ['null', null, 0o600, /not a key file/],
  ['a short key', { ...vectors.key, private_key: 'AAAA' }, 0o600, /not a key file/],
  [
    'the public key of another pair',
    { ...vectors.key, public_key: vectors.signatures[8]!.public_key.replace('A', 'B') },
    0o600,
    /do not match/,
  ],
  ['keys of two pairs', { ...vectors.key, private_key: Buffer.alloc(64, 3).toString('base64') }, 0o600, /do not match/],
])('rejects %s', (_, content, mode, message) => {
  expect(() => readKeyFile(createFile(content, mode))).toThrow(message)
})

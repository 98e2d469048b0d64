import { generateKeyPairSync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { InvalidInput } from '../kernel/errors.ts'
import { makeKeyPair, makePrivateKey } from '../testing/factories.ts'
import { checkPrivateKey } from './private-key.ts'

/** Path and message of the rejection. */
function rejection(text: string, passphrase?: string): string {
  try {
    checkPrivateKey(text, passphrase)
  } catch (error) {
    if (error instanceof InvalidInput) return `${error.issues[0]!.path}: ${error.issues[0]!.message}`
    throw error
  }
  return 'accepted'
}

test.each(['ed25519', 'ecdsa', 'rsa'] as const)('accepts %s and returns its public key', (type) => {
  const { private: text, public: expected } = makeKeyPair(type)
  const { privateKey, publicKey } = checkPrivateKey(text, undefined)
  expect(publicKey).toBe(expected.trim())
  expect(privateKey).toBe(`${text.trim()}\n`)
})

test('rejects a text with very many line ends, in linear time', () => {
  const text = `-----BEGIN PRIVATE KEY-----${'\n'.repeat(4_000_000)}#`
  expect(rejection(text.replace('BEGIN ', 'BEGIN RSA '))).toMatch(/^privateKey: must be a private key/)
})

test('accepts PEM of OpenSSL and Windows line ends', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }) as string
  const { privateKey: kept } = checkPrivateKey(`  ${pem.replaceAll('\n', '\r\n')}\n\n`, undefined)
  expect(kept).toBe(pem)
})

describe('passphrase', () => {
  const key = makePrivateKey('open sesame')
  test('is correct', () => {
    expect(checkPrivateKey(key, 'open sesame').publicKey).toMatch(/^ssh-ed25519 AAAA/)
  })
  test('is wrong', () => {
    expect(rejection(key, 'open barley')).toMatch(/^passphrase: is not the passphrase/)
  })
  test('is missing', () => {
    expect(rejection(key)).toMatch(/^passphrase: .*encrypted/)
  })
  test('is not needed', () => {
    expect(rejection(makePrivateKey(), 'open sesame')).toMatch(/^passphrase: .*not encrypted/)
  })
  test('of an old PEM key is wrong or correct', () => {
    expect(rejection(ENCRYPTED_PEM, 'open barley')).toMatch(/^passphrase: is not the passphrase/)
    expect(checkPrivateKey(ENCRYPTED_PEM, 'sesame').publicKey).toMatch(/^ssh-rsa AAAA/)
  })
})

test('rejects a short RSA key', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  expect(rejection(privateKey.export({ type: 'pkcs1', format: 'pem' }) as string)).toMatch(/^privateKey: .*1024 bits/)
})

test.each([
  ['nothing', '', /must be a private key/],
  ['something else', 'hello', /must be a private key/],
  ['a public key', makeKeyPair().public, /public half/],
  ['a public key in PEM', '-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----', /public half/],
  ['a PuTTY key', 'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n', /puttygen/],
  ['a certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----', /certificate/],
  [
    'PKCS#8',
    generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    /PKCS#8.*ssh-keygen -p/,
  ],
  ['a DSA key', '-----BEGIN DSA PRIVATE KEY-----\nAAAA\n-----END DSA PRIVATE KEY-----', /DSA/],
  ["a DSA key in OpenSSH's form", () => DSA, /ssh-dss.*not supported/],
  ['a key cut off', makePrivateKey().slice(0, 200), /must be a private key/],
  ['a key with lines missing', makePrivateKey().split('\n').toSpliced(2, 1).join('\n'), /cut off/],
  ['a key with strange letters', makePrivateKey().replace(/\n([A-Za-z])/g, '\n*$1'), /must be a private key/],
  ['a key with a byte changed', () => withWrongHalf(), /cut off, changed/],
])('rejects %s', (_what, text, message) => {
  expect(rejection(typeof text === 'string' ? text : text())).toMatch(message)
  expect(rejection(typeof text === 'string' ? text : text())).toMatch(/^privateKey: /)
})

test('rejects a key that would take minutes to decrypt', () => {
  const bytes = Buffer.from(makePrivateKey('x').replace(/-----.*-----|\n/g, ''), 'base64')
  const at = bytes.indexOf('bcrypt') + 6 + 4 + 4 + 16
  expect(bytes.readUInt32BE(at)).toBe(16)
  bytes.writeUInt32BE(0x7fffffff, at)
  const bomb = `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString('base64').replace(/.{70}/g, '$&\n')}\n-----END OPENSSH PRIVATE KEY-----\n`
  expect(rejection(bomb, 'x')).toMatch(/^privateKey: needs more than 256 bcrypt rounds/)
})

/** A valid key with the private half of one pair and the public half of another. */
function withWrongHalf(): string {
  const bytes = Buffer.from(makePrivateKey().replace(/-----.*-----|\n/g, ''), 'base64')
  const publicHalf = Buffer.from(makeKeyPair().public.split(' ')[1]!, 'base64').subarray(-32)
  for (let at = bytes.indexOf('ssh-ed25519'); at >= 0; at = bytes.indexOf('ssh-ed25519', at + 1)) publicHalf.copy(bytes, at + 15)
  return `-----BEGIN OPENSSH PRIVATE KEY-----\n${bytes.toString('base64').replace(/.{70}/g, '$&\n')}\n-----END OPENSSH PRIVATE KEY-----\n`
}

// Made with `ssh-keygen -t dsa` and `openssl genrsa -traditional -aes128`. No machine uses these keys.
const DSA = `-----BEGIN OPENSSH PRIVATE KEY-----
b3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAABswAAAAdzc2gtZH
NzAAAAgQDFmQ3AhFErFCeEWg8z8b12plyipMBhzMMityktbIxJhdts/JlOzX+jVIquzu/H
q3pT6Af4dPQaafhRNHb1T8OrWcyIgLb/s71GwqlAbaO9Zrm1xUWEjbvzyA16VVxbQR7Llf
JFcdbgQQlNe5LyEsJcQFtcNbAhTgjarZ6p5W2yYwAAABUA1i1ZVsi0KNGKeR0QHD8I7TCf
ZqUAAACBALLi1jwiyMAf05hirpJRnuWmk+hPh967yh0eSmXR0IxdzWZp1+efkQwd4Tv5oA
lyFgeE4ZNqeg8kQbqMoq9rUe7AseuPWbomtOfTCl4I2sDngt7iFXBVrEoWQ5Q3FLwYpfRx
5Fqfy4FnqEjSrINvsvr+Rcxbt4ETJ9CJGhtcjSASAAAAgQCMJ6tz/0FAoUeQwry6ACKVPv
GtEeNv7sGZ/Vmr61ENXXIJqxr8OXhMWsInfeWfVVznYLd8Uyo+oWUuOXW+O4Zrg3dVUYLb
hnrd5AcPn6vSDFLV5UlDffjn43cn7Vrwz2J4Xxpu3pBmtqC0VTYfetoSfgtQFT7f3sHFDJ
IE2afKagAAAeAj5LlMI+S5TAAAAAdzc2gtZHNzAAAAgQDFmQ3AhFErFCeEWg8z8b12plyi
pMBhzMMityktbIxJhdts/JlOzX+jVIquzu/Hq3pT6Af4dPQaafhRNHb1T8OrWcyIgLb/s7
1GwqlAbaO9Zrm1xUWEjbvzyA16VVxbQR7LlfJFcdbgQQlNe5LyEsJcQFtcNbAhTgjarZ6p
5W2yYwAAABUA1i1ZVsi0KNGKeR0QHD8I7TCfZqUAAACBALLi1jwiyMAf05hirpJRnuWmk+
hPh967yh0eSmXR0IxdzWZp1+efkQwd4Tv5oAlyFgeE4ZNqeg8kQbqMoq9rUe7AseuPWbom
tOfTCl4I2sDngt7iFXBVrEoWQ5Q3FLwYpfRx5Fqfy4FnqEjSrINvsvr+Rcxbt4ETJ9CJGh
tcjSASAAAAgQCMJ6tz/0FAoUeQwry6ACKVPvGtEeNv7sGZ/Vmr61ENXXIJqxr8OXhMWsIn
feWfVVznYLd8Uyo+oWUuOXW+O4Zrg3dVUYLbhnrd5AcPn6vSDFLV5UlDffjn43cn7Vrwz2
J4Xxpu3pBmtqC0VTYfetoSfgtQFT7f3sHFDJIE2afKagAAABRvxC0/5NKBGwvAE7tPP9Eb
fBpFxgAAAAdyb290QHZtAQI=
-----END OPENSSH PRIVATE KEY-----
`
const ENCRYPTED_PEM = `-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-128-CBC,E0E9B7E62AA57A4E361EE4099D974E5F

yZt4dt9x40YDFgAoXG+Dad4YThSRRwHgDDrcFD32yb0T6H8SiFtbgKseNU2LPYbJ
vKlX8jXQpDQpJhDG0SZlsA8NMJU4hG4W1+MEjUOLDTf4kEk/NBct/Yqa2G8qptYd
Vu8tYMyFW8T1aekUnQFKKWeM6TDtXDuBrDrDgnKkEREEjsqn/mqjwEmHc8QKvWlx
iPjj1oCYbf911Jyb+xyAYAQ5Uy3YdtWRSh3XKH9QwHv/x6KB62A6xN5dOohLyr3w
wZ3uYyoQWoS294O1JivLYesX1Qrp8f2HmydyrUjOXtiN3VsI18+zEUc7UrVb6c/J
RHmexpnO3XLhLA1zXy+NW22gy1Pwc+hFYqxUL5tStC/XznAlJLuv5Z+4TcapuIf8
ald077WfMD2Ba+eeTxaANVtPOQAia/9WHsO0tv6xoObhbRae5Ou5hwLZtRz4N0AA
EcV8mIsIWiyZJYHxWGc5iHTaAl5a01urtLh4WoPI2XSxR8r4ipWwFwTpvCZ7rA5y
8mcBj9wVZlRfJ9uy6XsZZX3TAFV8MjrpMJAYC7Re2fjpDkFXTqPSQVVwVPTIJ5iY
dyMUy7cPAwTiVg0mwo3XIfNS+2mHpGGUOzbnMKu13bL2EGbk0LpMIGU2fPNStGnH
EkNSjh251N6i5qu+7Kr3UjcCPWtW+rZMUDnw5jg9lXyaETjMGurIup7QLrddlj8p
KW27eyIEG+v+PXoT0LLhal8jgFp2/c/qfT0l5p8qRZAwR3AojUnv9QfEbBQobrhY
e7/CWa6Ej9yTssu8S2UlzXkf625n7qVxTLwo0p0D/ElAo1u8jh5+FsTDguftd6mi
Oh+vOd6hgPVyUn14UZW+iHbk18b8NCssIx0nEdRh8zzZ0ljAd74cwSmLIjl6zBuq
RM85K9tlb3ZnlY3puSSmYtX+6X+AVITAyfPtOU+S3NauRkIlTsGz+jNQXzfWUauK
0ifBd//jcBm9Ga1LC2W/MbZ4l8fyvZz2r2HPsGUT4ojbKT6vYmmBmb+0HDzUmOuS
c1omz1BVfLqSR1PurgVeoXRMjfvTsELfSZZE0RWY25SHQN9wh3R1oM6Hp8f8+p0Q
IAbTAXoZwGVdKAwujteJow1QxXlcxPSaFR0QlhebIdxzCPkEX5Z0ocpVnpFGa+zk
RtUvYMb6XDN9TI/VhzRje8eBsfExCZ6buVkKz+jUOGMjiUlZRNRQ1UUhC+F4gISV
+eOe8mGPmxXNsXYkcVTE53LpQC6rmStsOCeeg/aH7oEjmcR5lSzRT6yiy71GcAKh
beg3MMi6L1fCxMkrc2/jyLMnJK0eXNDNPalkqjQ3iN1EmyPjMs/WBS1VWRDCOa61
pOZ3FSt9BfTQURjHrM16qY6npc8lOfy/LmCnGV/GCCvpEgWNVdldlL5fB3pA7ule
HgGobAVMUca2VdF3JibdAQr4XifZJMl2QLNzhwylls8lUFBEwsHe2Rdezu0/ObUF
y5gxALiLRaVZvc13bZZXQHf4ClsCcdoExMn3kYz/xWJeI0JddvokV4Eh1UZS5/HT
AO0AWf7V+U1Q8Mi3v7gwaEzJ8dKPmBm8QWjoxNhnkPjacqySwmrbiEHurfRwLnfg
-----END RSA PRIVATE KEY-----
`

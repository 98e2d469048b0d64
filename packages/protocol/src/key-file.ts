import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import fs from 'node:fs'
import { fromBase64, type PublicKey, publicKey } from './public-key.ts'

/** The key pair of an agent. */
export type Identity = { privateKey: KeyObject; publicKey: PublicKey }

/** Makes a key pair and keeps it in a new file with mode 0600. Throws EEXIST when there is one. */
export function writeKeyFile(file: string, identity: Identity = newIdentity()): Identity {
  const { d } = identity.privateKey.export({ format: 'jwk' })
  const seed = Buffer.from(d!, 'base64url')
  const content = {
    private_key: Buffer.concat([seed, identity.publicKey.bytes]).toString('base64'),
    public_key: identity.publicKey.base64,
  }
  const handle = fs.openSync(file, 'wx', 0o600)
  try {
    fs.writeSync(handle, `${JSON.stringify(content, null, 2)}\n`)
    fs.fsyncSync(handle)
  } finally {
    fs.closeSync(handle)
  }
  return identity
}

/** Throws with what is wrong with the file: others may read it, it is no key file, or its halves are not of one pair. */
export function readKeyFile(file: string): Identity {
  if (fs.statSync(file).mode & 0o077) throw new Error(`${file} may be read by others; give it mode 0600 (chmod 600 ${file})`)
  const { private_key, public_key } = content(file)
  const both = typeof private_key === 'string' ? fromBase64(private_key, 64) : undefined
  if (!both || typeof public_key !== 'string')
    throw new Error(`${file} is not a key file: {"private_key": 64 bytes, "public_key": 32}`)
  const identity = fromSeed(both.subarray(0, 32))
  const given = Buffer.from(both.subarray(32)).toString('base64')
  if (identity.publicKey.base64 !== given || given !== public_key)
    throw new Error(`The public key in ${file} is not that of its private key`)
  return identity
}

export function newIdentity(): Identity {
  return fromPrivate(generateKeyPairSync('ed25519').privateKey)
}

const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex')

function fromSeed(seed: Uint8Array): Identity {
  return fromPrivate(createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' }))
}

function fromPrivate(privateKey: KeyObject): Identity {
  const { x } = createPublicKey(privateKey).export({ format: 'jwk' })
  return { privateKey, publicKey: publicKey(Buffer.from(x!, 'base64url').toString('base64')) }
}

function content(file: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(fs.readFileSync(file, 'utf8')))
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(`${file} is not JSON`)
    throw error
  }
}

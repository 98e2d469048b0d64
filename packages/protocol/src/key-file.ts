import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import fs from 'node:fs'
import { fromBase64, type PublicKey, publicKey } from './public-key.ts'

/** Key pair of an agent. */
export type Identity = { privateKey: KeyObject; publicKey: PublicKey }

/** Writes a key pair to a new file with mode 0600. Throws EEXIST when the file exists. */
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

/** Reads and validates a key file. Throws when other users can read it, its format is wrong, or the keys do not match. */
export function readKeyFile(file: string): Identity {
  if (fs.statSync(file).mode & 0o077) throw new Error(`${file} is readable by other users. Set mode 0600: chmod 600 ${file}`)
  const { private_key, public_key } = parseKeyFile(file)
  const privateKey = typeof private_key === 'string' ? fromBase64(private_key, 64) : undefined
  if (!privateKey || typeof public_key !== 'string')
    throw new Error(`${file} is not a key file. Expected {"private_key": base64 of 64 bytes, "public_key": base64 of 32 bytes}`)
  const identity = fromSeed(privateKey.subarray(0, 32))
  const embedded = Buffer.from(privateKey.subarray(32)).toString('base64')
  if (identity.publicKey.base64 !== embedded || embedded !== public_key)
    throw new Error(`The keys in ${file} do not match: the public key does not belong to the private key`)
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

function parseKeyFile(file: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(fs.readFileSync(file, 'utf8')))
  } catch (error) {
    if (error instanceof SyntaxError) throw new Error(`${file} is not valid JSON`)
    throw error
  }
}

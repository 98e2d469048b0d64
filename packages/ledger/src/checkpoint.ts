import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto'

// Tree heads are checkpoints of c2sp.org/tlog-checkpoint: signed notes that Go's sumdb/note and other tools of transparency logs verify.

export type Checkpoint = {
  /** Identifies the log; also the name of the key. Has no spaces and no `+`. */
  origin: string
  /** Number of leaves. */
  size: number
  /** Root hash, 32 bytes. */
  root: Uint8Array
  /** When it was signed, RFC 3339. */
  time: string
}
/** An Ed25519 public key of 32 bytes with the name of its log. */
export type CheckpointKey = { name: string; publicKey: Uint8Array }

const ED25519 = 1
// An Ed25519 public key in SPKI is this prefix and 32 bytes (RFC 8410).
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')

const keyHash = ({ name, publicKey }: CheckpointKey): Buffer =>
  createHash('sha256')
    .update(`${name}\n`)
    .update(Buffer.from([ED25519]))
    .update(publicKey)
    .digest()
    .subarray(0, 4)

/** The key in the text form of signed notes: name, hash of the key, and type and key in base64. */
export const verifierKey = (key: CheckpointKey): string =>
  `${key.name}+${keyHash(key).toString('hex')}+${Buffer.concat([Buffer.from([ED25519]), key.publicKey]).toString('base64')}`

/** @throws Error when `text` is not an Ed25519 verifier key */
function parseVerifierKey(text: string): CheckpointKey {
  const [, name, hash, encoded] = /^([^+\s]+)\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)$/.exec(text.trim()) ?? []
  const bytes = Buffer.from(encoded ?? '', 'base64')
  const key = { name: name ?? '', publicKey: bytes.subarray(1) }
  if (bytes.length !== 33 || bytes[0] !== ED25519 || keyHash(key).toString('hex') !== hash)
    throw new Error(`${JSON.stringify(text)} is not a verifier key of a signed note.`)
  return key
}

/** The signed text: origin, size, root hash in base64, and the time as an extension line. */
export const checkpointText = ({ origin, size, root, time }: Checkpoint): string =>
  `${origin}\n${size}\n${Buffer.from(root).toString('base64')}\ntime ${time}\n`

/** A checkpoint with its signature line. */
export function signCheckpoint(checkpoint: Checkpoint, privateKey: KeyObject): string {
  const publicKey = createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32)
  const text = checkpointText(checkpoint)
  const signature = Buffer.concat([keyHash({ name: checkpoint.origin, publicKey }), sign(null, Buffer.from(text), privateKey)])
  return `${text}\n— ${checkpoint.origin} ${signature.toString('base64')}\n`
}

/**
 * Reads a checkpoint that one of `verifierKeys` signed. The origin, which is signed, must be the name of the key.
 * @throws Error when its format is invalid, or no given key signed it
 */
export function openCheckpoint(note: string, verifierKeys: readonly string[]): Checkpoint {
  const end = note.indexOf('\n\n— ')
  if (end < 0) throw new Error('The checkpoint has no signature.')
  const text = note.slice(0, end + 1)
  const signatures = note
    .slice(end + 2)
    .split('\n')
    .flatMap((line) => {
      const [, name, encoded] = /^— (\S+) ([A-Za-z0-9+/=]+)$/.exec(line) ?? []
      return name && encoded ? [{ name, bytes: Buffer.from(encoded, 'base64') }] : []
    })
  const isSigned = verifierKeys
    .map(parseVerifierKey)
    .some((key) =>
      signatures.some(
        ({ name, bytes }) =>
          name === key.name &&
          text.startsWith(`${key.name}\n`) &&
          bytes.subarray(0, 4).equals(keyHash(key)) &&
          verify(
            null,
            Buffer.from(text),
            createPublicKey({ key: Buffer.concat([SPKI_PREFIX, key.publicKey]), format: 'der', type: 'spki' }),
            bytes.subarray(4),
          ),
      ),
    )
  if (!isSigned) throw new Error('None of the given keys signed the checkpoint.')
  const [origin, size, root, ...extensions] = text.split('\n')
  const time = extensions.find((line) => line.startsWith('time '))?.slice(5)
  if (!origin || !/^(0|[1-9]\d{0,15})$/.test(size ?? '') || !root || !time)
    throw new Error('The checkpoint is incomplete: it needs origin, size, root hash and time.')
  return { origin, size: Number(size), root: Buffer.from(root, 'base64'), time }
}

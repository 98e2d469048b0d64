import { sign as ed25519, type KeyObject, randomBytes } from 'node:crypto'

/** Member `auth` of a heartbeat body. */
export type Auth = { signature: string; nonce: string; timestamp: number }

/** Signs exactly these bytes, without a prefix. The nonce is a required field only; the increasing sequence prevents replays. */
export function sign(bytes: Uint8Array, privateKey: KeyObject, now: Date, nonce: Uint8Array = randomBytes(16)): Auth {
  return {
    signature: ed25519(null, bytes, privateKey).toString('base64'),
    nonce: Buffer.from(nonce).toString('base64'),
    timestamp: Math.floor(now.getTime() / 1000),
  }
}

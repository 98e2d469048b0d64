import { type KeyObject, sign } from 'node:crypto'

type Registration = { node_id: string; cluster_id: string; enrollment_token?: string | null | undefined }

/**
 * Encodes the bytes that a registration signs to prove possession of its key. One field per line. The first line is never the start
 * of a JSON text, so the signature is never valid for a heartbeat.
 */
export function encodeProof({ node_id, cluster_id, enrollment_token }: Registration, timestamp: number): Uint8Array<ArrayBuffer> {
  return Buffer.from(
    ['muster register v1', node_id, cluster_id, timestamp, enrollment_token ?? ''].map((line) => `${line}\n`).join(''),
  )
}

export function createProof(
  registration: Registration,
  privateKey: KeyObject,
  now: Date,
): { signature: string; timestamp: number } {
  const timestamp = Math.floor(now.getTime() / 1000)
  return { signature: sign(null, encodeProof(registration, timestamp), privateKey).toString('base64'), timestamp }
}

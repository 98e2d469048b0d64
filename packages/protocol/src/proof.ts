import { type KeyObject, sign } from 'node:crypto'

type Registration = { node_id: string; cluster_id: string; enrolment_token?: string | null | undefined }

/**
 * What the holder of a key signs to enrol it. A line that no JSON begins with, so that it can never be taken for a heartbeat; each
 * field alone on its line.
 */
export function proofBytes({ node_id, cluster_id, enrolment_token }: Registration, timestamp: number): Uint8Array<ArrayBuffer> {
  return Buffer.from(
    ['muster register v1', node_id, cluster_id, timestamp, enrolment_token ?? ''].map((line) => `${line}\n`).join(''),
  )
}

export function prove(registration: Registration, privateKey: KeyObject, now: Date): { signature: string; timestamp: number } {
  const timestamp = Math.floor(now.getTime() / 1000)
  return { signature: sign(null, proofBytes(registration, timestamp), privateKey).toString('base64'), timestamp }
}

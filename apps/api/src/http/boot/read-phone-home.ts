import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const MAX_BYTES = 64 * 1024

/** The report of cloud-init's module phone_home, a form. Null: it is too large. */
export async function readPhoneHome(req: IncomingMessage): Promise<{ hash: string; hostKey: string | null } | null> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) return null
    chunks.push(chunk)
  }
  const body = Buffer.concat(chunks)
  const key = new URLSearchParams(body.toString('utf8')).get('pub_key_ed25519')
  // Type, key and comment.
  const hostKey = key?.trim().split(/\s+/).slice(0, 2).join(' ') || null
  return { hash: createHash('sha256').update(body).digest('hex'), hostKey }
}

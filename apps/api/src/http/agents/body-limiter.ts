import type { IncomingMessage } from 'node:http'
import { BODY_LIMIT } from '@muster/protocol'

/** Bytes of bodies that a process holds at once, and requests. What is more is told to come again. */
const MOST_BYTES = 64 * 1024 * 1024
const MOST_REQUESTS = 4096
/** From a request's head to the end of its body: whoever sends a byte now and then must not hold a place that others need. */
const PATIENCE_MS = 15_000

export type Refusal = 'too_large' | 'busy' | 'gone'
export type Gate = ReturnType<typeof createGate>

/** Lets in as many requests at once as there is memory for. */
export function createGate(most = { bytes: MOST_BYTES, requests: MOST_REQUESTS, ms: PATIENCE_MS }) {
  let [bytes, requests] = [0, 0]

  /** The body, as it came. It is held until `release()`. */
  async function take(req: IncomingMessage): Promise<{ body: Buffer; release(): void } | Refusal> {
    if (Number(req.headers['content-length']) > BODY_LIMIT) return 'too_large'
    if (requests >= most.requests || bytes >= most.bytes) return 'busy'
    requests++
    let length = 0
    const release = () => {
      requests--
      bytes -= length
      length = 0
    }
    const chunks: Buffer[] = []
    let late: NodeJS.Timeout | undefined
    const refusal = await new Promise<Refusal | null>((resolve) => {
      late = setTimeout(() => {
        req.destroy()
        resolve('gone')
      }, most.ms)
      req.on('data', (chunk: Buffer) => {
        length += chunk.length
        bytes += chunk.length
        if (length > BODY_LIMIT) resolve('too_large')
        else if (bytes > most.bytes) resolve('busy')
        else chunks.push(chunk)
      })
      req.once('end', () => resolve(null))
      req.once('close', () => resolve('gone'))
    })
    clearTimeout(late)
    if (refusal === null) return { body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), release }
    req.removeAllListeners('data')
    req.resume()
    release()
    return refusal
  }
  return { take, held: () => ({ bytes, requests }) }
}

import type { IncomingMessage } from 'node:http'
import { clientNetwork } from '@muster/core/networks'
import { BODY_LIMIT } from '@muster/protocol'
import { createSlots } from '../../slots.ts'

/** Limits on bodies that a process buffers at once. Requests above a limit get 429. */
const MAX_BYTES = 64 * 1024 * 1024
const MAX_REQUESTS = 4096
/** Of one address: half of them, because all nodes of a site may share the address of a gateway. */
const MAX_REQUESTS_OF_ADDRESS = 2048
/** Time from the request headers to the end of the body. A slow client must not block a slot that others need. */
const BODY_TIMEOUT_MS = 15_000

export type BodyRejection = 'too_large' | 'busy' | 'gone'
/** Limits the bytes and requests that are buffered at once. */
export function createBodyLimiter(
  max = { bytes: MAX_BYTES, requests: MAX_REQUESTS, requestsOfAddress: MAX_REQUESTS_OF_ADDRESS, ms: BODY_TIMEOUT_MS },
) {
  let [bytes, requests] = [0, 0]
  const ofAddress = createSlots(max.requestsOfAddress)

  /** Reads the raw body. It counts against the limits until `release()`. */
  async function read(req: IncomingMessage, address: string): Promise<{ body: Buffer; release(): void } | BodyRejection> {
    if (Number(req.headers['content-length']) > BODY_LIMIT) return 'too_large'
    const releaseAddress = requests >= max.requests || bytes >= max.bytes ? null : ofAddress.take(clientNetwork(address))
    if (!releaseAddress) return 'busy'
    requests++
    let length = 0
    const release = () => {
      requests--
      releaseAddress()
      bytes -= length
      length = 0
    }
    const chunks: Buffer[] = []
    let timeout: NodeJS.Timeout | undefined
    const rejection = await new Promise<BodyRejection | null>((resolve) => {
      timeout = setTimeout(() => {
        req.destroy()
        resolve('gone')
      }, max.ms)
      req.on('data', (chunk: Buffer) => {
        length += chunk.length
        bytes += chunk.length
        if (length > BODY_LIMIT) resolve('too_large')
        else if (bytes > max.bytes) resolve('busy')
        else chunks.push(chunk)
      })
      req.once('end', () => resolve(null))
      req.once('close', () => resolve('gone'))
    })
    clearTimeout(timeout)
    if (rejection === null) return { body: chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks), release }
    req.removeAllListeners('data')
    req.resume()
    release()
    return rejection
  }
  return { read, usage: () => ({ bytes, requests }) }
}

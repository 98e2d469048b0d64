import type { IncomingMessage, ServerResponse } from 'node:http'
import { DomainError, Forbidden } from '@muster/core/errors'
import type { Api } from '../../api.ts'
import type { ApiDeps } from '../../context.ts'
import { TOO_MANY_READS } from '../../limits.ts'
import { callerKey } from '../../sign-in/caller.ts'
import { clientAddress, headersOf } from '../request-facts.ts'
import { sendError } from './send-error.ts'

type Send = (deps: ApiDeps, id: string, query: URLSearchParams, req: IncomingMessage, res: ServerResponse) => Promise<void>

/** Handles a download request with `send`. */
export async function serveDownload(
  { deps, reads }: Api,
  send: Send,
  id: string,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  if (req.method !== 'GET' && req.method !== 'HEAD') return sendError(res.setHeader('allow', 'GET, HEAD'), 405, 'Use GET.')
  const headers = headersOf(req)
  try {
    const caller = await deps.auth.findCaller(headers)
    const release = reads.take(callerKey(caller, clientAddress({ headers })))
    if (!release) return sendError(res.setHeader('retry-after', '1'), 429, TOO_MANY_READS)
    res.once('close', release)
    await send(deps, id, new URLSearchParams((req.url ?? '').split('?')[1] ?? ''), req, res)
  } catch (error) {
    if (error instanceof DomainError && !res.headersSent)
      return sendError(res, error instanceof Forbidden ? 403 : 400, error.message)
    // Usually the client disconnected.
    deps.runtime.log.debug({ err: error, path: req.url?.split('?', 1)[0] }, 'download aborted')
    if (res.headersSent) res.destroy()
    else sendError(res, 503, 'The file cannot be read at the moment. Try again later.')
  }
}

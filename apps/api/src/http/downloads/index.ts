import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiDeps } from '../../context.ts'
import { sendError } from './send-error.ts'

type Send = (deps: ApiDeps, id: string, query: URLSearchParams, req: IncomingMessage, res: ServerResponse) => Promise<void>

/** Handles a download request with `send`. */
export async function serveDownload(
  deps: ApiDeps,
  send: Send,
  id: string,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  if (req.method !== 'GET' && req.method !== 'HEAD') return sendError(res.setHeader('allow', 'GET, HEAD'), 405, 'Use GET.')
  try {
    await send(deps, id, new URLSearchParams((req.url ?? '').split('?')[1] ?? ''), req, res)
  } catch (error) {
    // Usually the client disconnected.
    deps.runtime.log.debug({ err: error, path: req.url?.split('?', 1)[0] }, 'download aborted')
    if (res.headersSent) res.destroy()
    else sendError(res, 503, 'The file cannot be read at the moment. Try again later.')
  }
}

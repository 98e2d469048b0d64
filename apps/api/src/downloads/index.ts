import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ApiDeps } from '../context.ts'
import { sendArtifact } from './artifact.ts'
import { sendLog } from './log.ts'
import { refuse } from './refuse.ts'

const ROUTES = [
  [/^\/api\/runs\/([^/]{1,200})\/log$/, sendLog],
  [/^\/api\/artifacts\/([^/]{1,200})$/, sendArtifact],
] as const

/** Answer requests for files. @returns false when `pathname` is none of theirs */
export async function download(deps: ApiDeps, pathname: string, req: IncomingMessage, res: ServerResponse): Promise<boolean> {
  for (const [pattern, send] of ROUTES) {
    const id = pattern.exec(pathname)?.[1]
    if (!id) continue
    if (req.method === 'GET' || req.method === 'HEAD') {
      const query = new URLSearchParams((req.url ?? '').split('?')[1] ?? '')
      try {
        await send(deps, id, query, req, res)
      } catch (error) {
        // Most often a client that went away in the middle.
        deps.runtime.log.debug({ err: error, pathname }, 'a download was broken off')
        if (res.headersSent) res.destroy()
        else refuse(res, 503, 'The file cannot be read now; try again in a moment.')
      }
    } else refuse(res, 405, 'Only GET.')
    return true
  }
  return false
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { attachment } from '@muster/core/artifacts'
import { recordAttempt } from '@muster/core/audit'
import { Conflict, NotFound } from '@muster/core/errors'
import { jobRunAudit, LOG_FORMATS, type LogFormat, readJobRunLog } from '@muster/core/runs'
import { type ApiDeps, createContext, SIGN_IN } from '../../context.ts'
import { isUuid, parseId } from '../../graphql/shared/ids.ts'
import { headersOf, requestFacts } from '../request-facts.ts'
import { sendError } from './send-error.ts'

const NAMES = {
  text: ['log', 'text/plain; charset=utf-8'],
  ansi: ['ansi.log', 'text/plain; charset=utf-8'],
  ndjson: ['ndjson', 'application/x-ndjson'],
  runner: ['runner.ndjson', 'application/x-ndjson'],
} as const satisfies Record<LogFormat, readonly [string, string]>

const isFormat = (text: string): text is LogFormat => (LOG_FORMATS as readonly string[]).includes(text)

/** A run in a URL: its number, its UUID, or its ID of the GraphQL API, as in the CLI. */
function parseRun(text: string): string | number | null {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  if (isUuid(text)) return text
  const id = parseId(text)
  return id?.type === 'JobRun' ? id.id : null
}

/** `GET /api/runs/RUN/log?format=…`: streams the current log of a run. */
export async function sendRunLog(
  deps: ApiDeps,
  id: string,
  query: URLSearchParams,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const facts = requestFacts(headersOf(req), false)
  const caller = await deps.auth.findCaller(facts.headers)
  if (!caller) return sendError(res, 401, SIGN_IN)
  const format = query.get('format') ?? 'text'
  if (!isFormat(format)) return sendError(res, 400, `Unknown log format ${format}. Use one of: ${LOG_FORMATS.join(', ')}.`)
  const run = parseRun(id)
  if (run === null) return sendError(res, 404, `There is no run ${id}. Use a run number or ID, see \`muster runs\`.`)
  try {
    const { ctx } = createContext(deps, facts, caller)
    const log = await readJobRunLog(ctx, run, format)
    await recordAttempt(ctx, {
      action: jobRunAudit.downloadLog,
      outcome: 'succeeded',
      objectId: typeof run === 'string' ? run : null,
      objectName: typeof run === 'number' ? `#${run}` : null,
      details: { format },
    })
    const [suffix, type] = NAMES[format]
    res.writeHead(200, {
      'content-type': type,
      'content-disposition': attachment(`run-${run}.${suffix}`),
      'x-content-type-options': 'nosniff',
      'cache-control': 'private, no-store',
    })
    if (req.method === 'HEAD') return void res.end()
    await pipeline(Readable.from(log), res)
  } catch (error) {
    if (error instanceof NotFound) return sendError(res, 404, error.message)
    if (error instanceof Conflict) return sendError(res, 410, error.message)
    throw error
  }
}

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { attachment } from '@muster/core/artifacts'
import { type AttemptEntry, recordAttempt } from '@muster/core/audit'
import { Conflict, type DomainError, InvalidInput, NotFound, Unauthenticated } from '@muster/core/errors'
import type { Ctx } from '@muster/core/registry'
import { jobRunAudit, LOG_FORMATS, type LogFormat, readJobRunLog } from '@muster/core/runs'
import { type ApiDeps, createContext, SIGN_IN } from '../../context.ts'
import { isUuid, parseId } from '../../graphql/shared/ids.ts'
import { recordRefusal } from '../record-refusal.ts'
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

/** Row ID of the run; null when the tenant has no such run. */
async function findRunId({ db, tenantId }: Ctx, run: string | number): Promise<string | null> {
  const where = typeof run === 'number' ? { tenantId, number: run } : { tenantId, id: run }
  return (await db.query.jobRuns.findFirst({ where, columns: { id: true } }))?.id ?? null
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
  const format = query.get('format') ?? 'text'
  const run = parseRun(id)
  const wanted: Omit<AttemptEntry, 'outcome'> = {
    action: jobRunAudit.downloadLog,
    objectName: typeof run === 'number' ? `#${run}` : null,
    details: { format: format.slice(0, 20) },
  }
  const refuse = async (status: number, error: DomainError) => {
    await recordRefusal(deps, facts, caller, wanted, error)
    sendError(res, status, error.message)
  }
  if (!caller) return refuse(401, new Unauthenticated(SIGN_IN))
  if (!isFormat(format)) {
    const formats = LOG_FORMATS.join(', ')
    return refuse(400, new InvalidInput([{ path: 'format', message: `${format} is unknown. Use one of: ${formats}.` }]))
  }
  if (run === null) return refuse(404, new NotFound(`There is no run ${id}. Use a run number or ID, see \`muster runs\`.`))
  try {
    const { ctx } = createContext(deps, facts, caller)
    // An ID of another tenant must not appear in the log of this one.
    const runId = await findRunId(ctx, run)
    if (runId) wanted.objectId = wanted.runId = runId
    else wanted.objectName = id.slice(0, 100)
    const log = await readJobRunLog(ctx, run, format)
    await recordAttempt(ctx, { ...wanted, outcome: 'succeeded' })
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
    if (error instanceof NotFound) return refuse(404, error)
    if (error instanceof Conflict) return refuse(410, error)
    throw error
  }
}

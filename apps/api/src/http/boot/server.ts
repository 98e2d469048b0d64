import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { batch } from '@muster/core/batch'
import {
  type BootScript,
  type BootScriptRequest,
  CLOUD_INIT_FILES,
  type CloudInitFile,
  type CloudInitRequest,
  completePhoneHome,
  createFetchRecorder,
  type FetchRecorder,
  retryScript,
  serveBootScripts,
  serveCloudInit,
} from '@muster/core/boot-service'
import { type Actor, tenantCtx } from '@muster/core/context'
import { DomainError } from '@muster/core/errors'
import { lingerOnClose } from '@muster/core/linger'
import type { Ctx } from '@muster/core/registry'
import { isTransientDbError } from '@muster/core/retry-transient'
import createFindMyWay from 'find-my-way'
import type { Api } from '../../api.ts'
import type { HttpServer } from '../server.ts'
import { bootScriptJson, parseBootScriptRequest } from './boot-script.ts'
import type { BootConfig, BootUrlsOf } from './config.ts'
import { createTenantFinder } from './find-tenant.ts'
import { sendProblem } from './problem.ts'
import { readPhoneHome } from './read-phone-home.ts'

/** Muster serves machines that cannot authenticate. */
const BOOT_SERVICE: Actor = { kind: 'system', id: null, name: 'boot service' }
const MAX_PER_STATEMENT = 200
/** Requests of this time share their statements, while others are answered. */
const COLLECT_MS = 15
/** Requests in progress. Thousands of machines start at once; the others get a retry script without a statement. */
const MAX_IN_PROGRESS = 4000
const STATUS: Record<string, number> = { NOT_FOUND: 404, FORBIDDEN: 403, INVALID_INPUT: 400, CONFLICT: 409 }

type Served = {
  ctx: Ctx
  recorder: FetchRecorder
  script: (request: BootScriptRequest) => Promise<BootScript>
  cloudInit: (request: CloudInitRequest) => Promise<{ content: Promise<string | null> }>
}
type Found = Served & { urls: ReturnType<BootUrlsOf> }
type Handler = (
  req: IncomingMessage,
  res: ServerResponse,
  found: Found,
  params: Record<string, string | undefined>,
) => Promise<void>

/**
 * Serves machines that boot, on a port of its own: firmware cannot authenticate, so no answer contains a secret, except the token of a
 * boot in user-data.
 * @throws Error when it cannot listen there
 */
export async function serveBoot(
  { deps }: Api,
  config: BootConfig,
  urlsOf: BootUrlsOf,
): Promise<HttpServer & { tlsPort: number | null }> {
  const { runtime } = deps
  const findTenant = createTenantFinder(runtime)
  const served = new Map<string, Served>()
  let inProgress = 0

  const servedOf = (tenantId: string): Served => {
    const known = served.get(tenantId)
    if (known) return known
    const ctx = tenantCtx(runtime, tenantId, BOOT_SERVICE) as Ctx
    const recorder = createFetchRecorder(ctx)
    const created: Served = {
      ctx,
      recorder,
      script: batch((requests) => serveBootScripts(ctx, requests, recorder), MAX_PER_STATEMENT, COLLECT_MS),
      // Objects, because a batch would wait for promises: the next one is read while the tokens of this one are stored.
      cloudInit: batch(
        async (requests) => (await serveCloudInit(ctx, requests, recorder)).map((content) => ({ content })),
        MAX_PER_STATEMENT,
        COLLECT_MS,
      ),
    }
    served.set(tenantId, created)
    return created
  }

  const bootScript: Handler = async (req, res, { urls, script }) => {
    const query = queryOf(req)
    const request = parseBootScriptRequest(query, { urls, address: addressOf(req) })
    if (typeof request === 'string') return sendProblem(res, 400, request)
    const result = await (inProgress > MAX_IN_PROGRESS ? null : script(request))?.catch((error: unknown) => {
      if (!isTransientDbError(error)) throw error
      return null
    })
    // While the database is away, machines wait instead of booting something else.
    if (!result) return send(res, retryScript(request))
    if (result.error !== undefined) return sendProblem(res, 404, result.error)
    const json = Number(query.get('json') ?? 0) !== 0 ? bootScriptJson(result) : null
    if (json) send(res, JSON.stringify(json), 'application/json; charset=utf-8')
    else send(res, result.script)
  }

  const cloudInit: Handler = async (req, res, { urls, cloudInit }, { node, file }) => {
    if (!CLOUD_INIT_FILES.includes(file as CloudInitFile)) return sendProblem(res, 404, `There is no ${file}.`)
    const hasTls = 'encrypted' in req.socket
    const tokenRefusal = hasTls || config.sendsTokensWithoutTls ? null : 'the connection has no TLS'
    const request = { nodeName: node!, file: file as CloudInitFile, address: addressOf(req), urls, tokenRefusal }
    const content = await (await cloudInit(request)).content
    if (content === null) sendProblem(res, 404, `There is no ${file} for ${node}.`)
    else send(res, content)
  }

  const phoneHome: Handler = async (req, res, { ctx }, { token }) => {
    const report = await readPhoneHome(req)
    if (!report) return sendProblem(res, 413, 'The report exceeds 64 KiB.', { connection: 'close' })
    const { name } = await completePhoneHome(ctx, { token: token!, ...report, address: addressOf(req) })
    send(res, `Recorded that ${name} has booted.\n`)
  }

  const router = createFindMyWay({
    defaultRoute: (_req, res) => sendProblem(res as ServerResponse, 404, 'Not found. Boot scripts are at /boot/v1/bootscript.'),
    maxParamLength: 300,
  })
  const route = (methods: string[], path: string, handler: Handler) => {
    for (const prefix of ['', '/tenants/:tenant'])
      router.all(`${prefix}/boot/v1${path}`, async (req, res, params) => {
        if (!methods.includes(req.method ?? ''))
          return sendProblem(res, 405, `Use ${methods.join(' or ')}.`, { allow: methods.join(', ') })
        const tenant = await findTenant(params.tenant ?? config.tenant)
        if (!tenant) return sendProblem(res, 404, `There is no tenant ${params.tenant ?? config.tenant}.`)
        await handler(req, res, { ...servedOf(tenant.id), urls: urlsOf(tenant.name) }, params)
      })
  }
  route(['GET'], '/bootscript', bootScript)
  route(['GET'], '/nocloud/:node/:file', cloudInit)
  route(['POST'], '/phone-home/:token', phoneHome)

  const listener = (req: IncomingMessage, res: ServerResponse) => {
    lingerOnClose(req)
    inProgress++
    res.once('close', () => inProgress--)
    Promise.resolve(router.lookup(req, res)).catch((error: unknown) => {
      if (res.headersSent) return void res.destroy()
      if (error instanceof DomainError) return sendProblem(res, STATUS[error.code] ?? 500, error.message)
      if (isTransientDbError(error))
        return sendProblem(res, 503, 'The database is unavailable. Try again.', { 'retry-after': '5' })
      runtime.log.error({ err: error, path: req.url?.split(/[?]|phone-home/)[0] }, 'boot request failed')
      sendProblem(res, 500, 'The request failed; the log of the API has the reason.')
    })
  }
  const servers = [
    { server: createServer(listener), port: config.port, setting: 'BOOT_PORT' },
    ...(config.tls ? [{ server: createTlsServer(config.tls, listener), port: config.tls.port, setting: 'BOOT_TLS_PORT' }] : []),
  ]
  for (const { server, port, setting } of servers)
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, config.host, resolve)).catch(
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE') throw error
        throw new Error(`${setting} ${port} on ${config.host} is in use: choose another port.`)
      },
    )
  const portOf = (i: number) => {
    const address = servers[i]?.server.address()
    return typeof address === 'object' && address ? address.port : null
  }
  return {
    port: portOf(0)!,
    tlsPort: portOf(1),
    async stop() {
      const closed = servers.map(({ server }) => new Promise<void>((resolve) => server.close(() => resolve())))
      for (const { server } of servers) server.closeIdleConnections()
      const deadline = setTimeout(() => servers.forEach(({ server }) => void server.closeAllConnections()), DRAIN_MS)
      await Promise.all(closed)
      clearTimeout(deadline)
      await Promise.all([...served.values()].map(({ recorder }) => recorder.flush()))
    },
  }
}
const DRAIN_MS = 5000

const queryOf = (req: IncomingMessage) => new URLSearchParams((req.url ?? '').split('?')[1])

/** A hint for people. It identifies nobody: addresses can be forged, and X-Forwarded-For even more so. */
const addressOf = ({ socket }: IncomingMessage): string | null => socket.remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '') ?? null

function send(res: ServerResponse, text: string, contentType = 'text/plain; charset=utf-8'): void {
  const length = Buffer.byteLength(text)
  res.writeHead(200, { 'content-type': contentType, 'content-length': length, 'cache-control': 'no-store' }).end(text)
}

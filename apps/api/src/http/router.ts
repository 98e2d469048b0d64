import type { IncomingMessage, ServerResponse } from 'node:http'
import compression from 'compression'
import { sql } from 'drizzle-orm'
import createFindMyWay, { type HTTPVersion, type Instance } from 'find-my-way'
import type { Api } from '../api.ts'
import type { AgentEndpoint } from './agents/endpoint.ts'
import { auditExportEndpoint } from './audit-export.ts'
import { sendArtifact } from './downloads/artifact.ts'
import { serveDownload } from './downloads/index.ts'
import { sendRunLog } from './downloads/run-log.ts'
import type { Handler } from './handler.ts'
import { inventoryEndpoint } from './inventory.ts'
import { knownHostsEndpoint } from './known-hosts.ts'
import { OPENCHAMI_ENDPOINTS } from './openchami/endpoints.ts'
import { serveOpenchami } from './openchami/serve.ts'
import { clusterMetricsEndpoint } from './prometheus/cluster-metrics.ts'
import { nodeMetricsEndpoint } from './prometheus/node-metrics.ts'
import { serviceDiscoveryEndpoint } from './prometheus/service-discovery.ts'
import { sendSchema } from './schema-file.ts'
import { serveSlurmPower } from './slurm-power.ts'
import { SLURM_ENDPOINTS } from './slurm-rest/endpoints.ts'
import { serveRest } from './slurm-rest/serve.ts'
import { serveTokenEndpoint, type TokenEndpoint } from './token-endpoint.ts'
import { serveTriggers } from './triggers.ts'

export const TOKEN_ENDPOINTS: Record<string, TokenEndpoint> = {
  '/api/audit': auditExportEndpoint,
  '/api/inventory': inventoryEndpoint,
  '/api/known_hosts': knownHostsEndpoint,
  '/metrics/clusters': clusterMetricsEndpoint,
  '/metrics/nodes': nodeMetricsEndpoint,
  '/sd/targets': serviceDiscoveryEndpoint,
}
/** The endpoint is public, and each check takes a statement and a request to the artifact store. */
const READINESS_CACHE_MS = 1000
const DOWNLOADS = { '/api/runs/:id/log': sendRunLog, '/api/artifacts/:id': sendArtifact }
/** Third-party agents use the first prefix; muster-agent uses the second. */
const AGENT_PREFIXES = ['/api/v1/hpc', '/agent/v1']

/** Compresses text responses except server-sent events, which must not be buffered. */
const compress = compression({
  filter: (_req, res) => /^(text\/(?!event-stream)|application\/(graphql|json))/.test(String(res.getHeader('content-type'))),
})
const compressed =
  (handler: Handler): Handler =>
  (req, res) =>
    new Promise((resolve, reject) => {
      compress(req as never, res as never, () => Promise.resolve(handler(req, res)).then(resolve, reject))
    })

/** HTTP routes of the API process. Handlers check the method themselves, so that a wrong method gets 405 instead of 404. */
export function createRouter(
  api: Api,
  { agents, graphql, isStopping }: { agents: AgentEndpoint; graphql: Handler; isStopping: () => boolean },
): Instance<HTTPVersion.V1> {
  const notFound: Handler = (_req, res) => sendText(res, 404, 'Not found. The GraphQL API is at /graphql.')
  const router = createFindMyWay({
    defaultRoute: notFound,
    onBadUrl: (_path, req, res) => void notFound(req as IncomingMessage, res as ServerResponse),
    ignoreTrailingSlash: true,
    maxParamLength: 300,
  })
  router.all('/graphql', compressed(graphql))
  router.all('/graphql/schema.graphql', compressed(sendSchema))

  for (const [path, endpoint] of Object.entries(TOKEN_ENDPOINTS))
    router.all(
      path,
      compressed((req, res) => serveTokenEndpoint(api, endpoint, req, res)),
    )
  for (const [path, send] of Object.entries(DOWNLOADS))
    router.all(path, (req, res, { id }) => serveDownload(api, send, id!, req, res))

  for (const [path, endpoints] of Object.entries(SLURM_ENDPOINTS))
    router.all(path, (req, res, { id }) => compressed((req, res) => serveRest(api, endpoints, id, req, res))(req, res))

  router.all('/api/slurm/power', serveSlurmPower(api))

  const serveTrigger = serveTriggers(api)
  router.all('/api/triggers/:id', (req, res, { id }) => serveTrigger(req, res, id!))

  for (const [path, endpoints] of api.deps.openchami ? Object.entries(OPENCHAMI_ENDPOINTS) : [])
    router.all(path, (req, res, params) => compressed((req, res) => serveOpenchami(api, endpoints, params, req, res))(req, res))

  for (const prefix of AGENT_PREFIXES) {
    router.all(`${prefix}/nodes/register`, agents.register)
    router.all(`${prefix}/nodes/:id/heartbeat`, agents.heartbeat)
    router.all(`${prefix}/health`, agents.health)
  }
  router.all('/health', agents.health)

  router.all('/healthz', (_req, res) => sendText(res, 200, 'ok'))
  const readiness = cachedFor(READINESS_CACHE_MS, () => notReadyReason(api))
  router.all('/readyz', async (_req, res) => {
    const reason = isStopping() ? 'stopping' : await readiness()
    sendText(res, reason ? 503 : 200, reason ?? 'ok')
  })
  return router
}

/** Calls `read` at most once in `ms`; concurrent callers share its result. */
function cachedFor<T>(ms: number, read: () => Promise<T>): () => Promise<T> {
  let last: { result: Promise<T>; until: number } | null = null
  return () => {
    if (!last || Date.now() > last.until) last = { result: read(), until: Date.now() + ms }
    return last.result
  }
}

function sendText(res: ServerResponse, status: number, text: string): void {
  if (!res.hasHeader('content-type')) res.setHeader('content-type', 'text/plain; charset=utf-8')
  res.writeHead(status).end(text)
}

/** Checks the database and the artifact store. The change event listener reconnects by itself. */
async function notReadyReason({ deps }: Api): Promise<string | null> {
  try {
    await deps.runtime.db.execute(sql`select 1`)
  } catch {
    return 'the database is unavailable'
  }
  const reason = await deps.store.notReadyReason()
  if (reason === null) return null
  // The reason names paths and addresses, and this endpoint is public.
  deps.runtime.log.warn({ reason }, 'the artifact store is unavailable')
  return 'the artifact store is unavailable; the log of the API has the reason'
}

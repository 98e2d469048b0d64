import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { attachment, isValidLink, signLink } from '@muster/core/artifacts'
import { type ActorKind, type AttemptEntry, outcomeOf, recordAttempt } from '@muster/core/audit'
import { Conflict, type DomainError, Forbidden, NotFound, Unavailable } from '@muster/core/errors'
import { type Ctx, schema } from '@muster/core/registry'
import { type JobArtifact, jobArtifactAudit } from '@muster/core/runs'
import { eq } from 'drizzle-orm'
import { type ApiDeps, originOf } from '../../context.ts'
import { isUuid } from '../../graphql/shared/ids.ts'
import { recordRefusal } from '../record-refusal.ts'
import { headersOf, requestFacts } from '../request-facts.ts'
import { sendError } from './send-error.ts'

const { jobArtifacts, tenants } = schema
const LINK_LIFETIME_S = 600

/** Why an artifact cannot be downloaded; null when it can. */
export function artifactUnavailableReason(
  { store }: ApiDeps,
  { path, removedAt, ...artifact }: Pick<JobArtifact, 'path' | 'store' | 'removedAt'>,
): string | null {
  if (removedAt)
    return `${path} was removed on ${removedAt.toISOString().slice(0, 10)}: it exceeded the artifact retention period.`
  if (artifact.store !== store.name)
    return `${path} is in the artifact store ${artifact.store}, but the server uses ${store.name}. Configure the previous store to download it.`
  return null
}

const nameOf = (path: string) => path.split('/').at(-1)!

/** Signed URL that downloads the artifact without a token: a presigned URL of the store if it has them, else one of this API. */
export async function artifactLink(
  { store, linkSecret, publicUrl }: ApiDeps,
  { id, key, path }: Pick<JobArtifact, 'id' | 'key' | 'path'>,
  ctx: Ctx,
): Promise<string> {
  const link = await store.link(key, { fileName: nameOf(path), seconds: LINK_LIFETIME_S })
  // The store serves the download, so the log records the link.
  if (link) {
    await recordAttempt(ctx, { action: jobArtifactAudit.download, outcome: 'succeeded', objectId: id, objectName: path })
    return link
  }
  const expires = Date.now() + LINK_LIFETIME_S * 1000
  const url = new URL(`/api/artifacts/${id}`, publicUrl)
  const { kind, id: actorId, name } = ctx.actor
  const by = JSON.stringify([kind, actorId, name])
  url.search = new URLSearchParams({
    expires: String(expires),
    by,
    signature: signLink(linkSecret, `${id} ${by}`, expires),
  }).toString()
  return url.href
}

/** `GET /api/artifacts/ID?expires=…&signature=…` */
export async function sendArtifact(
  deps: ApiDeps,
  id: string,
  query: URLSearchParams,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const by = query.get('by') ?? ''
  const good =
    isUuid(id) && isValidLink(deps.linkSecret, `${id} ${by}`, Number(query.get('expires')), query.get('signature') ?? '')
  const facts = requestFacts(headersOf(req), false)
  const action = jobArtifactAudit.download
  if (!good) {
    const error = new Forbidden('This download link is invalid or has expired. Request a new link from the run.')
    await recordRefusal(deps, facts, null, { action }, error)
    return sendError(res, 403, error.message)
  }
  // The link names its requester; everyone who has the link can use it.
  const [kind, actorId, name] = JSON.parse(by) as [ActorKind, string | null, string]
  const [found] = await deps.runtime.db
    .select({ artifact: jobArtifacts, suspendedAt: tenants.suspendedAt })
    .from(jobArtifacts)
    .innerJoin(tenants, eq(tenants.id, jobArtifacts.tenantId))
    .where(eq(jobArtifacts.id, id))
  const artifact = found?.artifact
  const record = (outcome: Pick<AttemptEntry, 'outcome' | 'error'>) =>
    recordAttempt(
      {
        ...deps.runtime,
        actor: { kind, id: actorId, name },
        tenantId: artifact?.tenantId ?? null,
        origin: originOf(facts, null),
        requestId: facts.requestId,
      },
      { action, ...outcome, objectId: id, objectName: artifact?.path ?? null, runId: artifact?.jobRunId ?? null },
    )
  const refuse = async (status: number, error: DomainError) => {
    await record(outcomeOf(error))
    sendError(res, status, error.message)
  }
  if (found?.suspendedAt)
    return refuse(403, new Forbidden('The tenant of this artifact is suspended. Ask an installation administrator.'))
  if (!artifact) return refuse(404, new NotFound('This artifact no longer exists: its run was deleted.'))
  const reason = artifactUnavailableReason(deps, artifact)
  if (reason) return refuse(410, new Conflict(reason))
  const content = await deps.store.open(artifact.key).catch(() => null)
  if (!content)
    return refuse(
      503,
      new Unavailable(
        `${artifact.path} is missing from the artifact store of this server. Workers and API processes must use the same store.`,
      ),
    )
  try {
    await record({ outcome: 'succeeded' })
  } catch (error) {
    content.destroy()
    throw error
  }
  res.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': artifact.size,
    'content-disposition': attachment(nameOf(artifact.path)),
    'content-security-policy': 'sandbox',
    'x-content-type-options': 'nosniff',
    'cache-control': 'private, no-store',
  })
  if (req.method === 'HEAD') {
    content.destroy()
    res.end()
    return
  }
  await pipeline(content, res)
}

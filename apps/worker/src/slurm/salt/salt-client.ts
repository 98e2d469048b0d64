import { isIPv6 } from 'node:net'
import type { ApiLogin } from '@muster/core/credentials'
import { Conflict, Unavailable } from '@muster/core/errors'
import { type LocalTarget, RequestError, sendRequest, TargetError } from '@muster/core/outbound'

/** A minion that does not return is awaited by the master for 15 s with its default settings. */
const TIMEOUT_MS = 60_000
const MAX_BYTES = 16 * 1024 * 1024
/** States of a minion that may wait for one another. A number, because with `true` Salt 3008 hides waiting states from find_job. */
const MAX_QUEUED = 20

type SaltServer = {
  login: Omit<ApiLogin, 'credential'>
  /** External authentication of the master, such as pam. */
  eauth: string
  /** PEM certificates of the only accepted authorities; null: those that the worker trusts. */
  caCertificate: string | null
}
export type SaltLimits = { localTargets: readonly LocalTarget[]; signal: AbortSignal; timeoutMs?: number }

/** Minion IDs by the state of their key at the master. */
export type SaltKeys = {
  accepted: string[]
  pending: string[]
  rejected: string[]
  denied: string[]
  /** Time of the master in its own time zone, YYYYMMDDhhmmss: the beginning of its job IDs. */
  time: string
}
/** The returns of a minion by function; null: it is not connected, or did not return in time. */
export type SaltReturns = Record<string, unknown> | null
/** `pillar` has no secrets: minions and the job cache of the master store it. */
export type SaltState = { name: string; pillar: Record<string, unknown> }

export type SaltClient = {
  /** Needs the permission `@wheel` for key.list_all. */
  listKeys(): Promise<SaltKeys>
  /** Runs functions of execution modules on minions with an accepted key, and waits for their returns. */
  call(minionIds: string[], functions: { name: string; args?: string[] }[]): Promise<Map<string, SaltReturns>>
  /** Starts a state on minions with an accepted key, as the job `jid`. A minion does not execute a job ID twice. */
  applyState(minionIds: string[], jid: string, state: SaltState): Promise<void>
  /** What the minions of a job have returned so far; null: the master knows no such job. */
  readJob(jid: string): Promise<Map<string, unknown> | null>
  /** The minions that execute a job now. Every login may ask this. */
  runningMinions(minionIds: string[], jid: string): Promise<Set<string>>
}

/** One entry of a lowstate, as salt-api expects it. */
type Chunk = { client: 'local' | 'local_async' | 'runner' | 'wheel'; fun: string | string[] } & Record<string, unknown>
type Response = { status: number; body: { return?: unknown[] } | null }

/**
 * A client of the salt-api with the module rest_cherrypy, over HTTPS only. Signs in at the first request, and again after the token
 * expired. Errors name the server, its state and the next step, and quote no response.
 * @throws Conflict, Unavailable; the reason of the signal
 */
export function createSaltClient({ login, eauth, caCertificate }: SaltServer, limits: SaltLimits): SaltClient {
  const url = `https://${isIPv6(login.host) ? `[${login.host}]` : login.host}:${login.port}`
  const conflict = (what: string) => new Conflict(`The salt-api ${url} ${what}.`)
  const unavailable = (what: string) =>
    new Unavailable(`The salt-api ${url} ${what}; check that salt-api and salt-master run and that the worker can reach it.`)
  let token: Promise<string> | null = null

  async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Response> {
    const request = {
      url: new URL(path, url),
      method: 'POST',
      headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      ca: caCertificate ?? undefined,
    }
    try {
      const { status, text, isCut } = await sendRequest(request, { timeoutMs: TIMEOUT_MS, ...limits, maxBytes: MAX_BYTES })
      if (status >= 300 && status < 400) throw conflict('redirects; set the credential to the host and port of salt-api itself')
      if (status >= 500) throw unavailable(`responds with ${status}`)
      return { status, body: isCut ? null : parseObject(text) }
    } catch (error) {
      if (error instanceof TargetError) throw conflict(`is rejected. ${error.message.replace(/\.$/, '')}`)
      if (!(error instanceof RequestError)) throw error
      throw error.kind === 'certificate' ? conflict(error.message) : unavailable(error.message)
    }
  }

  async function signIn(): Promise<string> {
    const { username, password } = login
    const { status, body } = await post('/login', { username, password, eauth })
    const [entry] = (body?.return ?? []) as { token?: unknown }[]
    if (status === 200 && typeof entry?.token === 'string') return entry.token
    if (status === 401)
      throw conflict(
        `rejects the login of ${username}; check the password of the credential, and external_auth of the master for ${eauth}`,
      )
    throw unexpected(status)
  }

  const unexpected = (status: number) =>
    conflict(`responds with ${status}, and not as salt-api does; check the host and port of the credential`)

  async function run(chunk: Chunk): Promise<Record<string, unknown>> {
    for (let attempt = 1; ; attempt++) {
      token ??= signIn()
      const signingIn = token
      const value = await signingIn.catch((error: unknown) => {
        if (token === signingIn) token = null
        throw error
      })
      const { status, body } = await post('/', [chunk], { 'x-auth-token': value })
      const result = body?.return?.[0]
      if (status === 200 && typeof result === 'object' && result !== null) return result as Record<string, unknown>
      // The token may have expired; a missing permission has the same status.
      if (status === 401 && attempt === 1) {
        if (token === signingIn) token = null
        continue
      }
      if (status === 401) {
        const kind = chunk.client === 'wheel' || chunk.client === 'runner' ? `@${chunk.client}: ` : ''
        throw conflict(
          `does not allow ${login.username} to use ${kind}${[chunk.fun].flat().join(', ')}; add it to external_auth of the master`,
        )
      }
      if (status === 200)
        throw conflict('returns something else than salt-api does; check its version, which must be 3006 or newer')
      throw unexpected(status)
    }
  }

  return {
    async listKeys() {
      const { data } = (await run({ client: 'wheel', fun: 'key.list_all' })) as {
        data?: { jid?: unknown; return?: Record<string, unknown> }
      }
      const of = (state: string) => (Array.isArray(data?.return?.[state]) ? (data.return[state] as unknown[]).map(String) : [])
      if (!data?.return) throw conflict('returns no keys; check that the master runs')
      return {
        accepted: of('minions'),
        pending: of('minions_pre'),
        rejected: of('minions_rejected'),
        denied: of('minions_denied'),
        time: /^\d{14}/.exec(String(data.jid))?.[0] ?? '',
      }
    },
    async call(minionIds, functions) {
      if (minionIds.length === 0) return new Map()
      const fun = functions.map(({ name }) => name)
      const arg = functions.map(({ args = [] }) => args)
      const returns = await run({ client: 'local', tgt: minionIds, tgt_type: 'list', fun, arg })
      return new Map(minionIds.map((id) => [id, isObject(returns[id]) ? returns[id] : null]))
    },
    async applyState(minionIds, jid, { name, pillar }) {
      const job = { tgt: minionIds, tgt_type: 'list', arg: [name], kwarg: { pillar, queue: MAX_QUEUED }, jid }
      const started = await run({ client: 'local_async', fun: 'state.apply', ...job })
      if (started.jid !== jid) throw conflict(`started no job for ${name}; check the log of the master`)
    },
    async readJob(jid) {
      const job = await run({ client: 'runner', fun: 'jobs.list_job', jid })
      if (!isObject(job.Result) || 'Error' in job) return null
      return new Map(Object.entries(job.Result).map(([id, result]) => [id, isObject(result) ? result.return : result]))
    },
    async runningMinions(minionIds, jid) {
      if (minionIds.length === 0) return new Set()
      const target = { tgt: minionIds, tgt_type: 'list' }
      const found = await run({ client: 'local', fun: 'saltutil.find_job', arg: [jid], ...target })
      return new Set(minionIds.filter((id) => isObject(found[id]) && found[id].jid === jid))
    },
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function parseObject(text: string): Response['body'] {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

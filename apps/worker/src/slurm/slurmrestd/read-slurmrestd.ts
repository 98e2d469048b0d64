import { parseRestPing, type RestQuery, reportsInRest, restPath, restVersions, SlurmOutputError } from '@muster/slurm'
import { MAX_BYTES, type QueryContext } from '../run-query.ts'
import { type SlurmrestdEndpoint, SlurmrestdFailure } from './endpoint.ts'

/** A slurmrestd that hangs must not delay the refresh for long. */
const PING_TIMEOUT_MS = 10_000

/** slurmrestd in one refresh. */
export type Slurmrestd = {
  /**
   * Reads and reports a resource.
   * @returns null when slurmrestd does not report it completely or has failed: the caller runs the command instead
   */
  read<T>(
    context: QueryContext,
    query: RestQuery,
    parse: (output: string) => T,
    describe: (result: T) => string,
  ): Promise<T | null>
  /** Reports whether slurmrestd was usable. */
  finish(): void
}

/** Finds the API version of slurmrestd and checks the login. Failures are reported by `finish`. */
export async function openSlurmrestd(
  endpoint: SlurmrestdEndpoint | SlurmrestdFailure,
  context: QueryContext,
): Promise<Slurmrestd> {
  const startedAt = performance.now()
  const result: { path: string; detail: string; failure: SlurmrestdFailure | null } = {
    path: restPath(restVersions(context.version)[0]!, 'ping'),
    detail: '',
    failure: null,
  }
  const fail = (error: unknown): null => {
    if (!(error instanceof SlurmrestdFailure)) throw error
    result.failure ??= error
    return null
  }
  const version =
    endpoint instanceof SlurmrestdFailure
      ? fail(endpoint)
      : await findVersion(endpoint, context, (path) => {
          result.path = path
        }).then(({ version, release }) => {
          result.detail = `Slurm ${release}, API ${version}`
          return version
        }, fail)
  const durationMs = Math.round(performance.now() - startedAt)
  return {
    async read(context, query, parse, describe) {
      if (version === null || endpoint instanceof SlurmrestdFailure || !reportsInRest(version, query)) return null
      const path = restPath(version, query)
      const startedAt = performance.now()
      const limits = { timeoutMs: context.timeoutMs, maxBytes: MAX_BYTES, signal: context.signal }
      const read = await readOne(endpoint, context, path, limits, parse).catch(fail)
      if (read === null) return null
      const report = { query, command: `GET ${path}`, exitCode: null, durationMs: Math.round(performance.now() - startedAt) }
      context.onReport({ ...report, state: 'OK', detail: describe(read.value), hint: null })
      return read.value
    },
    finish() {
      const name = endpoint instanceof SlurmrestdFailure ? 'slurmrestd' : endpoint.name
      const report = { query: 'slurmrestd', command: `GET ${result.path}`, exitCode: null, durationMs } as const
      const { detail, failure } = result
      if (!failure) return context.onReport({ ...report, state: 'OK', detail: `${name}: ${detail}`, hint: null })
      const reason = `${name}: ${failure.message.replace(/\.?$/, '.')} Commands were used instead.`
      context.onReport({ ...report, state: 'FAILED', detail: reason, hint: failure.hint })
    },
  }
}

type Limits = Parameters<SlurmrestdEndpoint['get']>[2]

async function findVersion(
  endpoint: SlurmrestdEndpoint,
  { session, version: release, signal, timeoutMs }: QueryContext,
  onPath: (path: string) => void,
): Promise<{ version: string; release: string }> {
  const deadline = performance.now() + Math.min(timeoutMs, PING_TIMEOUT_MS)
  for (const version of restVersions(release)) {
    const path = restPath(version, 'ping')
    onPath(path)
    const limits = { timeoutMs: Math.max(1, Math.round(deadline - performance.now())), maxBytes: MAX_BYTES, signal }
    const response = await endpoint.get(session, path, limits)
    if (response.status === 404) continue
    const ping = parseResponse(response, path, parseRestPing, endpoint.loginHint())
    if (!ping.isUp) throw new SlurmrestdFailure('no controller answers it, or they reject its login', endpoint.loginHint())
    return { version, release: ping.release }
  }
  throw new SlurmrestdFailure(
    `it has none of the API versions ${restVersions(null).at(-1)} to ${restVersions(null)[0]}`,
    'Check that this is slurmrestd, and that its option -s loads the plugins of the API.',
  )
}

async function readOne<T>(
  endpoint: SlurmrestdEndpoint,
  { session }: QueryContext,
  path: string,
  limits: Limits,
  parse: (output: string) => T,
): Promise<{ value: T }> {
  const response = await endpoint.get(session, path, limits)
  if (response.isCut) throw new SlurmrestdFailure(`the response to ${path} has more than ${limits.maxBytes / 1024 / 1024} MiB`)
  return { value: parseResponse(response, path, parse, null) }
}

/** slurmrestd describes errors in JSON with any status; its authentication and other servers answer with text. */
function parseResponse<T>(
  { status, text }: { status: number; text: string },
  path: string,
  parse: (output: string) => T,
  hint: string | null,
): T {
  try {
    if (status === 200) return parse(text)
    if (status >= 400 && /^\s*\{/.test(text)) parse(text)
  } catch (error) {
    if (!(error instanceof SlurmOutputError)) throw error
    throw new SlurmrestdFailure(`the response to ${path} is not usable: ${error.message}`, hint)
  }
  if (status === 401 || status === 403) throw new SlurmrestdFailure('it rejects the login', hint)
  throw new SlurmrestdFailure(`it responds to ${path} with ${status}`, hint)
}

import { setTimeout as sleep } from 'node:timers/promises'
import { type DocumentNode, print } from '@0no-co/graphql.web'
import type { TadaDocumentNode } from 'gql.tada'
import { CliError, EXIT, errorFrom, NotSignedIn } from './errors.ts'
import { readSettings, type Settings } from './settings.ts'
import { VERSION } from './version.ts'

/** The audit log shows requests with this name as those of the CLI. */
export const USER_AGENT = `muster-cli/${VERSION}`

/** Names the tenant of a request, by name or ID. */
const TENANT_HEADER = 'x-muster-tenant'

type GraphQLErrors = readonly { message: string; extensions?: Record<string, unknown> }[]

/**
 * Sends one query or mutation.
 * @param settings default: the environment or what `muster login` saved. Without a token the request is anonymous.
 * @throws CliError when the server is unreachable or the response has errors
 */
export async function request<Data, Vars>(
  document: TadaDocumentNode<Data, Vars>,
  variables: Vars,
  settings: Partial<Settings> & { url: string } = readSettings(),
): Promise<Data> {
  const body = await post<Data>(print(document as DocumentNode), variables, settings)
  if (body.errors?.length) throw fromGraphQL(body.errors)
  return body.data as Data
}

export type Response<Data> = { data?: Data | null; errors?: GraphQLErrors }

/** Sends an operation and returns the response with its errors. @throws CliError when the server is unreachable */
export async function post<Data>(
  query: string,
  variables: unknown,
  settings: Partial<Settings> & { url: string } = readSettings(),
): Promise<Response<Data>> {
  let response: globalThis.Response
  try {
    response = await fetch(new URL('/graphql', settings.url), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': USER_AGENT,
        accept: 'application/graphql-response+json, application/json',
        ...(settings.token ? { authorization: `Bearer ${settings.token}` } : {}),
        ...(settings.tenant ? { [TENANT_HEADER]: settings.tenant } : {}),
      },
      body: JSON.stringify({ query, variables }),
    })
  } catch (error) {
    throw unreachable(settings.url, error)
  }
  try {
    return (await response.json()) as Response<Data>
  } catch {
    throw new CliError(
      `${settings.url} answered with status ${response.status} and no GraphQL response. Check that it is the address of a Muster console.`,
      EXIT.unavailable,
    )
  }
}

export const INVALID_TOKEN = 'The token is invalid or has expired. Run `muster login URL`.'
const MAX_RETRIES = 30
const RETRY_MS = 1000

/**
 * Yields the results of a subscription until the server completes it. Reconnects after a lost connection, for up to 30 s.
 * @param variables called at every connection, because a cursor in them advances
 * @param signal stops the subscription
 * @throws CliError when the server rejects the subscription or stays unreachable
 */
export async function* subscribe<Data, Vars>(
  document: TadaDocumentNode<Data, Vars> | string,
  variables: () => Vars,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<Data> {
  const settings = readSettings()
  let failures = 0
  while (!signal.aborted) {
    try {
      yield* subscribeOnce<Data>(
        typeof document === 'string' ? document : print(document as DocumentNode),
        variables(),
        settings,
        signal,
        () => {
          if (failures > 0) process.stderr.write('Reconnected.\n')
          failures = 0
        },
      )
      return
    } catch (error) {
      if (error instanceof CliError) throw error
      if (failures++ === 0) process.stderr.write(`Connection to ${settings.url} lost. Reconnecting …\n`)
      if (failures > MAX_RETRIES) throw unreachable(settings.url, error)
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
    }
  }
}

/** Values in a list of a subscription. */
const MAX_LIST = 500

/** As `subscribe`, for a subscription to objects by ID that completes when they are final. Many objects take several subscriptions. */
export async function* subscribeToObjects<Data>(
  document: TadaDocumentNode<Data, { ids: string[] }>,
  ids: string[],
): AsyncGenerator<Data> {
  for (let i = 0; i < ids.length; i += MAX_LIST) yield* subscribe(document, () => ({ ids: ids.slice(i, i + MAX_LIST) }))
}

/** Subscribes over one connection. @throws CliError for a permanent error, any other error for a lost connection */
async function* subscribeOnce<Data>(
  query: string,
  variables: unknown,
  settings: Settings,
  signal: AbortSignal,
  onConnected: () => void,
): AsyncGenerator<Data> {
  const url = new URL('/graphql', settings.url)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  // Imported here, because most commands do not subscribe.
  const { createClient } = await import('graphql-ws')
  const client = createClient({
    url: url.href,
    connectionParams: {
      authorization: `Bearer ${settings.token}`,
      ...(settings.tenant ? { [TENANT_HEADER]: settings.tenant } : {}),
    },
    retryAttempts: 0,
    on: { connected: onConnected },
  })
  const aborted = new Promise<{ done: true; value: undefined }>((resolve) =>
    signal.addEventListener('abort', () => resolve({ done: true, value: undefined }), { once: true }),
  )
  try {
    const results = client.iterate<Data>({
      query,
      variables: variables as Record<string, unknown>,
    })
    while (!signal.aborted) {
      const next = await Promise.race([results.next(), aborted])
      if (next.done) return
      if (next.value.errors?.length) throw fromGraphQL(next.value.errors)
      if (next.value.data) yield next.value.data
    }
  } catch (error) {
    throw rejection(error) ?? error
  } finally {
    await client.dispose()
  }
}

/** Converts what graphql-ws throws: the errors of a rejected operation, or the close event of a rejected connection. */
function rejection(error: unknown): CliError | null {
  if (Array.isArray(error) && error.length > 0) return fromGraphQL(error as GraphQLErrors)
  const { code, reason } = error as { code?: unknown; reason?: string }
  if (code === 4401) return new NotSignedIn(INVALID_TOKEN)
  if (code === 4403) return new NotSignedIn(reason || INVALID_TOKEN)
  if (typeof code === 'number' && code >= 4400 && code < 4500)
    return new CliError(reason || `The server closed the connection with code ${code}.`)
  return null
}

/** Converts GraphQL errors of a response. */
export function fromGraphQL(errors: GraphQLErrors): CliError {
  const code = errors[0]?.extensions?.code
  if (code === 'UNAUTHENTICATED') return new NotSignedIn(INVALID_TOKEN)
  return errorFrom({ code: typeof code === 'string' ? code : '', message: errors.map((e) => e.message).join('\n') })
}

export function unreachable(url: string, error: unknown): CliError {
  const cause = error instanceof Error && error.cause instanceof Error ? (error.cause as NodeJS.ErrnoException) : null
  const hint = /CERT|SIGNATURE/.test(cause?.code ?? '')
    ? 'Set NODE_EXTRA_CA_CERTS to the file of its certificate or its CA.'
    : 'Check the address and that the server is running.'
  return new CliError(`Cannot reach ${url}${cause ? `: ${cause.message}` : ''}. ${hint}`, EXIT.unavailable)
}

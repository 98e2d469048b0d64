import { setTimeout as sleep } from 'node:timers/promises'
import type { TadaDocumentNode } from 'gql.tada'
import { type DocumentNode, print } from 'graphql'
import { createClient } from 'graphql-ws'
import { CliError, EXIT, errorFrom, NotSignedIn } from './errors.ts'
import { readSettings, type Settings } from './settings.ts'

type GraphQLErrors = readonly { message: string; extensions?: Record<string, unknown> }[]

/**
 * Send one query or mutation.
 * @param settings where to; by default what the environment or `muster login` says. Without a token: as nobody.
 * @throws CliError when the server cannot be reached or refuses the operation as a whole
 */
export async function request<Data, Vars>(
  document: TadaDocumentNode<Data, Vars>,
  variables: Vars,
  settings: { url: string; token?: string } = readSettings(),
): Promise<Data> {
  let response: Response
  try {
    response = await fetch(new URL('/graphql', settings.url), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, application/json',
        ...(settings.token ? { authorization: `Bearer ${settings.token}` } : {}),
      },
      body: JSON.stringify({ query: print(document as DocumentNode), variables }),
    })
  } catch (error) {
    throw unreachable(settings.url, error)
  }
  let body: { data?: Data | null; errors?: GraphQLErrors }
  try {
    body = (await response.json()) as typeof body
  } catch {
    throw new CliError(
      `${settings.url} answered ${response.status} and no GraphQL. Is this the address of a Muster console?`,
      EXIT.unavailable,
    )
  }
  if (body.errors?.length) throw fromGraphQL(body.errors)
  return body.data as Data
}

export const INVALID_TOKEN = 'The token is not valid, or no longer. Run `muster login URL`.'
const GIVE_UP_AFTER = 30
const RETRY_MS = 1000

/**
 * The results of a subscription until the server ends it. After a lost connection it subscribes again, for half a minute.
 * @param variables asked for at every connection, since what is to come depends on what came
 * @param signal ends it at once
 * @throws CliError when the server refuses the subscription or stays away
 */
export async function* subscribe<Data, Vars>(
  document: TadaDocumentNode<Data, Vars>,
  variables: () => Vars,
  signal: AbortSignal = new AbortController().signal,
): AsyncGenerator<Data> {
  const settings = readSettings()
  let failures = 0
  while (!signal.aborted) {
    try {
      yield* connected(document, variables(), settings, signal, () => {
        if (failures > 0) process.stderr.write('Connected again.\n')
        failures = 0
      })
      return
    } catch (error) {
      if (error instanceof CliError) throw error
      if (failures++ === 0) process.stderr.write(`The connection to ${settings.url} is lost; trying again …\n`)
      if (failures > GIVE_UP_AFTER) throw unreachable(settings.url, error)
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {})
    }
  }
}

/** One connection. @throws CliError for what trying again cannot help, anything else for a lost connection */
async function* connected<Data, Vars>(
  document: TadaDocumentNode<Data, Vars>,
  variables: Vars,
  settings: Settings,
  signal: AbortSignal,
  onConnected: () => void,
): AsyncGenerator<Data> {
  const url = new URL('/graphql', settings.url)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  const client = createClient({
    url: url.href,
    connectionParams: { authorization: `Bearer ${settings.token}` },
    retryAttempts: 0,
    on: { connected: onConnected },
  })
  const aborted = new Promise<{ done: true; value: undefined }>((resolve) =>
    signal.addEventListener('abort', () => resolve({ done: true, value: undefined }), { once: true }),
  )
  try {
    const results = client.iterate<Data>({
      query: print(document as DocumentNode),
      variables: variables as Record<string, unknown>,
    })
    while (!signal.aborted) {
      const next = await Promise.race([results.next(), aborted])
      if (next.done) return
      if (next.value.errors?.length) throw fromGraphQL(next.value.errors)
      if (next.value.data) yield next.value.data
    }
  } catch (error) {
    throw refusal(error) ?? error
  } finally {
    await client.dispose()
  }
}

/** graphql-ws throws the list of errors of a refused operation, and the close event of a refused connection. */
function refusal(error: unknown): CliError | null {
  if (Array.isArray(error) && error.length > 0) return fromGraphQL(error as GraphQLErrors)
  const { code, reason } = error as { code?: unknown; reason?: string }
  if (code === 4401 || code === 4403) return new NotSignedIn(INVALID_TOKEN)
  if (typeof code === 'number' && code >= 4400 && code < 4500) return new CliError(reason || `The server refused with ${code}.`)
  return null
}

/** What a list of GraphQL errors means at the terminal. */
export function fromGraphQL(errors: GraphQLErrors): CliError {
  const code = errors[0]?.extensions?.code
  if (code === 'UNAUTHENTICATED') return new NotSignedIn(INVALID_TOKEN)
  return errorFrom({ code: typeof code === 'string' ? code : '', message: errors.map((e) => e.message).join('\n') })
}

export function unreachable(url: string, error: unknown): CliError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : ''
  return new CliError(
    `Cannot reach ${url}${cause ? `: ${cause}` : ''}. Is it running, and is the address right?`,
    EXIT.unavailable,
  )
}

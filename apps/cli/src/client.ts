import type { TadaDocumentNode } from 'gql.tada'
import { type DocumentNode, print } from 'graphql'
import { type Client, createClient } from 'graphql-ws'
import { CliError, EXIT, errorFrom } from './errors.ts'
import { readSettings, type Settings } from './settings.ts'

type GraphQLErrors = { message: string; extensions?: { code?: string } }[]

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

/** A WebSocket client for subscriptions; it connects at the first one and comes back after a lost connection. */
export function subscriptions(settings: Settings = readSettings()): Client {
  const url = new URL('/graphql', settings.url)
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
  return createClient({
    url: url.href,
    connectionParams: { authorization: `Bearer ${settings.token}` },
    // The caller reconnects, since only it knows after which event to go on.
    retryAttempts: 0,
  })
}

/** What a list of GraphQL errors means at the terminal. */
export function fromGraphQL(errors: GraphQLErrors): CliError {
  const first = errors[0]!
  return errorFrom({ code: first.extensions?.code ?? '', message: errors.map((e) => e.message).join('\n') })
}

function unreachable(url: string, error: unknown): CliError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause.message : String(error)
  return new CliError(`Cannot reach ${url}: ${cause}. Is it running, and is the address right?`, EXIT.unavailable)
}

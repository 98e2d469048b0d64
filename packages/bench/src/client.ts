import { type DocumentNode, print } from '@0no-co/graphql.web'
import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import type { TadaDocumentNode } from './graphql.ts'

type Response<T> = { data?: T | null; errors?: { message: string; extensions?: Record<string, unknown> }[] }
type Failure = { __typename: string; code: string; message: string; issues?: { path: string; message: string }[] }
/** The members of a mutation's result union that are not errors. */
type Success<Data> = Exclude<Data[keyof Data], { code: unknown }>

/** The text of a document as it is sent. */
export const textOf = (document: TadaDocumentNode<unknown, never>): string => print(document as unknown as DocumentNode)

/**
 * A client of the public API that uses third-party libraries only, as an integrator's would.
 * @param cookies kept and sent as a browser does
 */
export function connect(url: string, token: () => string | null, cookies: Map<string, string> = new Map()) {
  const headers = () => ({
    'content-type': 'application/json',
    ...(token() ? { authorization: `Bearer ${token()}` } : {}),
    ...(cookies.size ? { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') } : {}),
  })

  /** Sends a query or mutation. @throws Error with the messages of the API */
  async function request<Data, Variables>(document: TadaDocumentNode<Data, Variables>, variables: Variables): Promise<Data> {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify({ query: textOf(document), variables }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)!
      cookies.set(name!, value!)
    }
    const text = await response.text()
    let body: Response<Data>
    try {
      body = JSON.parse(text) as Response<Data>
    } catch {
      throw new Error(`${url}/graphql answered with status ${response.status} and no GraphQL response: ${text.slice(0, 200)}`)
    }
    if (body.errors?.length) throw new Error(body.errors.map((error) => error.message).join('; '))
    return body.data as Data
  }

  /** Sends a mutation with one field and returns its success type. @throws Error with type, message and issues of an error result */
  async function mutate<Data, Variables>(
    document: TadaDocumentNode<Data, Variables>,
    variables: Variables,
  ): Promise<Success<Data>> {
    const [[field, result] = []] = Object.entries((await request(document, variables)) as Record<string, Failure | null>)
    if (!result || result.code !== undefined) throw new Error(`${field}: ${result ? describe(result) : 'no result'}`)
    return result as Success<Data>
  }

  /** Subscribes over a WebSocket of its own. Ends when the server completes the subscription or `signal` drops the connection. */
  async function* subscribe<Data, Variables extends Record<string, unknown>>(
    document: TadaDocumentNode<Data, Variables>,
    variables: Variables,
    signal?: AbortSignal,
  ): AsyncGenerator<Data> {
    const client = createClient({
      url: `${url.replace(/^http/, 'ws')}/graphql`,
      connectionParams: { authorization: `Bearer ${token()}` },
      // A thousand of Node's own WebSockets would use more CPU than the messages that they receive.
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    })
    const drop = () => client.terminate()
    signal?.addEventListener('abort', drop, { once: true })
    try {
      if (signal?.aborted) return
      for await (const { data, errors } of client.iterate<Data>({ query: textOf(document), variables })) {
        if (errors?.length) throw new Error(errors.map((error) => error.message).join('; '))
        if (data) yield data
        if (signal?.aborted) return
      }
    } catch (error) {
      if (!signal?.aborted) throw error
    } finally {
      await client.dispose()
    }
  }
  return { request, mutate, subscribe }
}
export type Client = ReturnType<typeof connect>

const describe = ({ __typename, message, issues }: Failure) =>
  `${__typename}: ${[message, ...(issues ?? []).map((issue) => `${issue.path} ${issue.message}`)].join('; ')}`

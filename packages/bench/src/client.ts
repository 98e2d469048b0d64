import { createClient } from 'graphql-ws'
import { WebSocket } from 'ws'

type Answer<T> = { data?: T | null; errors?: { message: string; extensions?: Record<string, unknown> }[] }
type Union = { __typename: string; message?: string; issues?: { path: string; message: string }[] }

/** A client of the public API with nothing of ours inside, as an integrator would write one. */
export function connect(url: string, token: () => string | null) {
  const headers = () => ({ 'content-type': 'application/json', ...(token() ? { authorization: `Bearer ${token()}` } : {}) })

  /** One query or mutation. @throws Error with the API's own messages */
  async function request<T>(query: string, variables: Record<string, unknown> = {}): Promise<T> {
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: headers(),
      body: JSON.stringify({ query, variables }),
    })
    const answer = (await response.json()) as Answer<T>
    if (answer.errors?.length) throw new Error(answer.errors.map((e) => e.message).join('; '))
    return answer.data as T
  }

  /** A mutation with one field: its success type, or an Error with what the API said. */
  async function mutate<T>(query: string, variables: Record<string, unknown> = {}): Promise<T> {
    const [result] = Object.values(await request<Record<string, Union>>(query, variables))
    if (!result || result.message !== undefined) throw new Error(`${result?.__typename}: ${result?.message}`)
    return result as T
  }

  /** A subscription over a WebSocket of its own. Ends when the server completes it, or when `signal` drops the connection. */
  async function* subscribe<T>(query: string, variables: Record<string, unknown>, signal?: AbortSignal): AsyncGenerator<T> {
    const client = createClient({
      url: `${url.replace(/^http/, 'ws')}/graphql`,
      connectionParams: { authorization: `Bearer ${token()}` },
      // A thousand of Node's own would cost more than what they receive.
      webSocketImpl: WebSocket,
      retryAttempts: 0,
    })
    const drop = () => client.terminate()
    signal?.addEventListener('abort', drop, { once: true })
    try {
      if (signal?.aborted) return
      for await (const { data, errors } of client.iterate<T>({ query, variables })) {
        if (errors?.length) throw new Error(errors.map((e) => e.message).join('; '))
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

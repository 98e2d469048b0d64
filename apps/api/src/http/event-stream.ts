import type { ExecutionResult } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { ApiContext } from '../context.ts'

const PING_MS = 12_000

/** Cursor of each subscription result, sent as `id:` of its server-sent event. */
const cursors = new WeakMap<ExecutionResult, number | string>()
export const setCursor = (result: ExecutionResult, cursor: number | string): void => void cursors.set(result, cursor)

/** The Last-Event-ID header, which clients of server-sent events send when they reconnect; null without one. */
export const lastEventId = (headers: Headers): string | null => headers.get('last-event-id') || null

/** The same as a number; null when it is none. */
export function resumeCursor(headers: Headers): number | null {
  const id = lastEventId(headers)
  return id && /^\d{1,15}$/.test(id) ? Number(id) : null
}

/**
 * Subscriptions over server-sent events as in the GraphQL over SSE protocol (distinct connections mode), plus an `id:` for results
 * with a cursor, so that a plain reconnect resumes after the last event.
 */
export function eventStream(): Plugin<ApiContext> {
  return {
    onSubscribe: () => ({
      onSubscribeResult({ args }) {
        const context = args.contextValue as ApiContext
        context.openStream?.(context.caller)
        return {
          onNext({ result }) {
            const { cursor } = context
            if (cursor !== undefined) setCursor(result as ExecutionResult, cursor)
          },
        }
      },
    }),
    onResultProcess({ result, acceptableMediaTypes, request, setResultProcessor }) {
      if (!isAsyncIterable(result) || !request.headers.get('accept')?.includes('text/event-stream')) return
      acceptableMediaTypes.push('text/event-stream')
      setResultProcessor(
        (results) =>
          new Response(streamOf(results as AsyncIterable<ExecutionResult>), {
            headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', connection: 'keep-alive' },
          }),
        'text/event-stream',
      )
    },
  }
}

function streamOf(results: AsyncIterable<ExecutionResult>): ReadableStream<Uint8Array> {
  const iterator = results[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let ping: NodeJS.Timeout
  return new ReadableStream({
    start(controller) {
      // Browsers report the connection as open once the first bytes arrive.
      controller.enqueue(encoder.encode(':\n\n'))
      ping = setInterval(() => (controller.desiredSize ?? 0) > 0 && controller.enqueue(encoder.encode(':\n\n')), PING_MS)
    },
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) {
        clearInterval(ping)
        controller.enqueue(encoder.encode('event: complete\ndata:\n\n'))
        controller.close()
        return
      }
      const cursor = cursors.get(value)
      controller.enqueue(
        encoder.encode(`${cursor === undefined ? '' : `id: ${cursor}\n`}event: next\ndata: ${JSON.stringify(value)}\n\n`),
      )
    },
    async cancel() {
      clearInterval(ping)
      await iterator.return?.()
    },
  })
}

import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  Kind,
  visit,
} from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { ApiContext, SocketContext } from './context.ts'
import type { Batch } from './graphql/runs/events/subscriptions.ts'
import { setCursor } from './http/event-stream.ts'
import { masked } from './masking.ts'
import { type PutEvents, planEvents } from './raw-events.ts'

// A batch also tells how the run stands; who gets it later than this is told anew.
const FRESH_MS = 200

type Shared = { at: number; result: Promise<ExecutionResult>; text?: Promise<string> }
// By the page itself, which all who follow closely are given, then by who asks for what.
const shared = new WeakMap<Batch['events'], Map<string, Shared>>()

/**
 * Of a document that asks for a log and nothing else: a number of its own, the variable that says only where to begin, and how its
 * events are made when they are plain.
 */
type LogDocument = { number: number; after: string | null; putEvents: PutEvents | null }
const documents = new WeakMap<DocumentNode, LogDocument | null>()
let documentCount = 0

/**
 * Works out a batch of a run's log once for all subscriptions of one caller that want the same of it, instead of once for each:
 * a thousand programs that follow a hundred runs cost little more than a hundred. Over sockets it goes out as the text that it was
 * made once.
 */
export function sharedLogs(): Plugin<ApiContext> {
  return {
    onSubscribe({ args, setSubscribeFn }) {
      if (logDocument(args)) setSubscribeFn(subscribeToLog)
    },
  }
}

function logDocument({ document, schema }: ExecutionArgs): LogDocument | null {
  let known = documents.get(document)
  if (known === undefined) {
    const [operation, ...others] = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION)
    const [field, ...fields] = operation?.selectionSet.selections ?? []
    const isLog = others.length + fields.length === 0 && field?.kind === Kind.FIELD && field.name.value === 'jobRunEvents'
    const after = isLog && field.arguments?.find((argument) => argument.name.value === 'after')?.value
    const name = after && after.kind === Kind.VARIABLE && isUsedOnce(document, after.name.value) ? after.name.value : null
    known = isLog ? { number: ++documentCount, after: name, putEvents: planEvents(schema, field) } : null
    documents.set(document, known)
  }
  return known
}

function isUsedOnce(document: DocumentNode, name: string): boolean {
  let uses = 0
  visit(document, { VariableDefinition: () => false, Variable: (variable) => void (variable.name.value === name && uses++) })
  return uses === 1
}

async function subscribeToLog(args: ExecutionArgs) {
  const source = await createSourceEventStream(args)
  if (!isAsyncIterable(source)) return source
  const batches = (source as AsyncIterable<Batch>)[Symbol.asyncIterator]()
  const key = keyOf(args)
  const { sendNext } = args.contextValue as ApiContext & Partial<SocketContext>
  return resultsOf(batches, async (batch) => {
    const known = sharedOf(args, key, batch)
    if (!sendNext) return known.result
    known.text ??= known.result.then((result) => JSON.stringify(masked(result, args.contextValue as ApiContext)))
    await sendNext(await known.text)
  })
}

/** What `work` gives for each batch, and nothing for those that it has seen to itself. */
function resultsOf(
  batches: AsyncIterator<Batch>,
  work: (batch: Batch) => Promise<ExecutionResult | undefined>,
): AsyncIterableIterator<ExecutionResult> {
  return {
    async next() {
      while (true) {
        const { done, value } = await batches.next()
        if (done) return { done, value: undefined }
        const result = await work(value)
        if (result) return { done: false, value: result }
      }
    },
    async return() {
      await batches.return?.()
      return { done: true, value: undefined }
    },
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

function sharedOf(args: ExecutionArgs, key: string, batch: Batch): Shared {
  const results = shared.get(batch.events) ?? new Map<string, Shared>()
  shared.set(batch.events, results)
  const known = results.get(key)
  if (known && performance.now() - known.at < FRESH_MS) return known
  const fresh = { at: performance.now(), result: resultOf(args, batch) }
  results.set(key, fresh)
  return fresh
}

async function resultOf(args: ExecutionArgs, batch: Batch): Promise<ExecutionResult> {
  const { putEvents } = logDocument(args)!
  const result = await execute({ ...args, rootValue: putEvents ? { ...batch, events: [] } : { ...batch } })
  if (putEvents && result.data) putEvents(result.data, batch.events)
  setCursor(result, batch.lastSeq)
  return result
}

/** Who asks, and for what: where each began makes no difference any more. */
function keyOf(args: ExecutionArgs): string {
  const { variableValues, operationName, contextValue } = args
  const { caller } = contextValue as ApiContext
  const { number, after } = logDocument(args)!
  const asked = Object.entries(variableValues ?? {}).filter(([name]) => name !== after)
  return JSON.stringify([caller?.tenantId, caller?.actor, number, operationName, asked])
}

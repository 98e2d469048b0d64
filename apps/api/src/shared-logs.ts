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
import { maskErrors } from './masking.ts'
import { compileEventWriter, type WriteEvents } from './raw-events.ts'

// A batch includes the state of the run, so a shared result is reused only for this long.
const MAX_AGE_MS = 200

type Shared = { at: number; result: Promise<ExecutionResult>; text?: Promise<string> }
// Results by page of events, then by caller and selection. Subscriptions that are up to date receive the same page object.
const shared = new WeakMap<Batch['events'], Map<string, Shared>>()

/**
 * Facts about a document that selects only `jobRunEvents`: a unique number, the variable used only as start cursor, and the event
 * serializer when one can be compiled.
 */
type LogDocument = { number: number; after: string | null; writeEvents: WriteEvents | null }
const documents = new WeakMap<DocumentNode, LogDocument | null>()
let documentCount = 0

/**
 * Executes each batch of a run's log once for all subscriptions of one caller with the same selection. A thousand subscriptions to a
 * hundred runs cost little more than a hundred. WebSockets send the serialized result, which is shared as well.
 */
export function sharedLogs(): Plugin<ApiContext> {
  return {
    onSubscribe({ args, setSubscribeFn }) {
      if (logDocument(args)) setSubscribeFn(subscribeToLog)
    },
  }
}

function logDocument({ document, schema }: ExecutionArgs): LogDocument | null {
  let cached = documents.get(document)
  if (cached === undefined) {
    const [operation, ...others] = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION)
    const [field, ...fields] = operation?.selectionSet.selections ?? []
    const isLog = others.length + fields.length === 0 && field?.kind === Kind.FIELD && field.name.value === 'jobRunEvents'
    const after = isLog && field.arguments?.find((argument) => argument.name.value === 'after')?.value
    const name = after && after.kind === Kind.VARIABLE && isUsedOnce(document, after.name.value) ? after.name.value : null
    cached = isLog ? { number: ++documentCount, after: name, writeEvents: compileEventWriter(schema, field) } : null
    documents.set(document, cached)
  }
  return cached
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
    const sharedResult = sharedOf(args, key, batch)
    if (!sendNext) return sharedResult.result
    sharedResult.text ??= sharedResult.result.then((result) =>
      JSON.stringify(maskErrors(result, args.contextValue as ApiContext)),
    )
    await sendNext(await sharedResult.text)
  })
}

/** Yields the result of `work` for each batch; skips batches for which `work` returns undefined because it sent them itself. */
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
  const cached = results.get(key)
  if (cached && performance.now() - cached.at < MAX_AGE_MS) return cached
  const fresh = { at: performance.now(), result: resultOf(args, batch) }
  results.set(key, fresh)
  return fresh
}

async function resultOf(args: ExecutionArgs, batch: Batch): Promise<ExecutionResult> {
  const { writeEvents } = logDocument(args)!
  const result = await execute({ ...args, rootValue: writeEvents ? { ...batch, events: [] } : { ...batch } })
  if (writeEvents && result.data) writeEvents(result.data, batch.events)
  setCursor(result, batch.lastSeq)
  return result
}

/** Cache key of caller and selection. The start cursor is excluded: it does not affect later batches. */
function keyOf(args: ExecutionArgs): string {
  const { variableValues, operationName, contextValue } = args
  const { caller } = contextValue as ApiContext
  const { number, after } = logDocument(args)!
  const variables = Object.entries(variableValues ?? {}).filter(([name]) => name !== after)
  return JSON.stringify([caller?.tenantId, caller?.actor, number, operationName, variables])
}

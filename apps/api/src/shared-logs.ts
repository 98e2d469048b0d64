import {
  createSourceEventStream,
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  execute,
  Kind,
  visit,
} from 'graphql'
import { isAsyncIterable, mapAsyncIterator, type Plugin } from 'graphql-yoga'
import type { ApiContext } from './context.ts'
import type { Batch } from './graphql/subscriptions.ts'

// A batch also tells how the run stands; who gets it later than this is told anew.
const FRESH_MS = 200

type Shared = { result: Promise<ExecutionResult>; at: number }
// By the page itself, which all who follow closely are given, then by who asks for what.
const shared = new WeakMap<Batch['events'], Map<string, Shared>>()

/** Of a document that asks for a log and nothing else: a number of its own, and the variable that says only where to begin. */
type LogDocument = { number: number; after: string | null }
const documents = new WeakMap<DocumentNode, LogDocument | null>()
let documentCount = 0

/**
 * Works out a batch of a run's log once for all subscriptions of one caller that want the same of it, instead of once for each:
 * a thousand programs that follow a hundred runs cost little more than a hundred.
 */
export function sharedLogs(): Plugin<ApiContext> {
  return {
    onSubscribe({ args, setSubscribeFn }) {
      if (logDocument(args.document)) setSubscribeFn(subscribeToLog)
    },
  }
}

function logDocument(document: DocumentNode): LogDocument | null {
  let known = documents.get(document)
  if (known === undefined) {
    const [operation, ...others] = document.definitions.filter((each) => each.kind === Kind.OPERATION_DEFINITION)
    const [field, ...fields] = operation?.selectionSet.selections ?? []
    const isLog = others.length + fields.length === 0 && field?.kind === Kind.FIELD && field.name.value === 'jobRunEvents'
    const after = isLog && field.arguments?.find((argument) => argument.name.value === 'after')?.value
    const name = after && after.kind === Kind.VARIABLE && isUsedOnce(document, after.name.value) ? after.name.value : null
    known = isLog ? { number: ++documentCount, after: name } : null
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
  return mapAsyncIterator(source as AsyncIterable<Batch>, (batch) => resultOf(args, batch))
}

function resultOf(args: ExecutionArgs, batch: Batch): Promise<ExecutionResult> {
  const results = shared.get(batch.events) ?? new Map<string, Shared>()
  shared.set(batch.events, results)
  const key = keyOf(args)
  const known = results.get(key)
  if (known && performance.now() - known.at < FRESH_MS) return known.result
  const result = Promise.resolve(execute({ ...args, rootValue: { ...batch } }))
  results.set(key, { result, at: performance.now() })
  return result
}

/** Who asks, and for what: where each began makes no difference any more. */
function keyOf({ document, variableValues, operationName, contextValue }: ExecutionArgs): string {
  const { caller } = contextValue as ApiContext
  const { number, after } = logDocument(document)!
  const asked = Object.entries(variableValues ?? {}).filter(([name]) => name !== after)
  return JSON.stringify([caller?.tenantId, caller?.actor, number, operationName, asked])
}

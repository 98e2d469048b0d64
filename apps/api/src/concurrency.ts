import { type ExecutionResult, type execute, getOperationAST } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import pLimit, { type LimitFunction } from 'p-limit'
import type { ApiContext } from './context.ts'
import { clientAddress } from './http/request-facts.ts'
import { LimitError, MAX_CALLER_SUBSCRIPTIONS, MAX_CONCURRENT, MAX_OPERATIONS } from './limits.ts'
import { callerKey } from './sign-in/caller.ts'
import { createSlots } from './slots.ts'

/**
 * Limits how many queries and mutations of one caller execute at once; more of them wait in order. Callers do not wait for each other.
 * Limits the open subscriptions of a caller over all its connections.
 * Requests that are not signed in count by their address.
 */
export function callerConcurrency(maxSubscriptions = MAX_CALLER_SUBSCRIPTIONS): Plugin<ApiContext> {
  const subscriptions = createSlots(maxSubscriptions)
  const callers = new Map<string, { limit: LimitFunction; operations: number }>()

  async function inTurn(key: string, work: () => ReturnType<typeof execute>): Promise<ExecutionResult> {
    const of = callers.get(key) ?? { limit: pLimit(MAX_CONCURRENT), operations: 0 }
    if (of.operations >= MAX_OPERATIONS) {
      const nextStep = 'Wait for responses before sending more operations.'
      return { errors: [new LimitError('OPERATIONS', MAX_OPERATIONS, of.operations + 1, nextStep)] }
    }
    of.operations++
    callers.set(key, of)
    try {
      return await of.limit(work)
    } finally {
      if (--of.operations === 0) callers.delete(key)
    }
  }
  const keyOf = ({ caller, headers }: ApiContext) => callerKey(caller, clientAddress({ headers }))
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      if (getOperationAST(args.document, args.operationName)?.operation === 'subscription') return
      const key = keyOf(args.contextValue)
      setExecuteFn((args) => inTurn(key, () => executeFn(args)))
    },
    onSubscribe({ args, setResultAndStopExecution }) {
      const release = subscriptions.take(keyOf(args.contextValue))
      if (!release) {
        const nextStep = 'Close streams that you no longer read.'
        const error = new LimitError('CALLER_SUBSCRIPTIONS', maxSubscriptions, maxSubscriptions + 1, nextStep)
        return setResultAndStopExecution({ errors: [error] })
      }
      return {
        onSubscribeError: release,
        onSubscribeResult: ({ result }) => {
          if (!isAsyncIterable(result)) return release()
          return { onEnd: release }
        },
      }
    },
  }
}

import { type ExecutionResult, type execute, getOperationAST } from 'graphql'
import type { Plugin } from 'graphql-yoga'
import pLimit, { type LimitFunction } from 'p-limit'
import type { ApiContext, ApiDeps } from './context.ts'
import { clientAddress } from './http/request-facts.ts'
import { LimitError, MAX_CONCURRENT, MAX_OPERATIONS } from './limits.ts'

/**
 * Limits how many queries and mutations of one caller execute at once; more of them wait in order. Callers do not wait for each other.
 * Requests that are not signed in count by their address.
 */
export function callerConcurrency({ trustProxy }: ApiDeps): Plugin<ApiContext> {
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
  return {
    onExecute({ args, executeFn, setExecuteFn }) {
      if (getOperationAST(args.document, args.operationName)?.operation === 'subscription') return
      const { caller, headers } = args.contextValue
      const key = caller ? `${caller.actor.kind} ${caller.actor.id}` : `address ${clientAddress({ headers }, trustProxy)}`
      setExecuteFn((args) => inTurn(key, () => executeFn(args)))
    },
  }
}

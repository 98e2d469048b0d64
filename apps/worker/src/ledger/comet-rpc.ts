import { BaseAccount } from 'cosmjs-types/cosmos/auth/v1beta1/auth'
import { QueryAccountRequest, QueryAccountResponse } from 'cosmjs-types/cosmos/auth/v1beta1/query'
import { z } from 'zod'
import { DeliveryError } from '../delivery/delivery-error.ts'
import { assertAcceptedStatus } from '../delivery/outcome.ts'
import { type Limits, post } from '../delivery/post.ts'

// JSON-RPC of CometBFT: https://docs.cometbft.com/v0.38/rpc/

const Reply = z.object({
  result: z.unknown().optional(),
  error: z.object({ code: z.number(), message: z.string(), data: z.string().nullish() }).nullish(),
})
const AbciQuery = z.object({
  response: z.object({ code: z.number().default(0), log: z.string().default(''), value: z.string().nullish() }),
})
const Broadcast = z.object({ code: z.number(), log: z.string().default('') })
const Included = z.object({
  hash: z.string(),
  height: z.coerce.number(),
  tx_result: z.object({ code: z.number().default(0), log: z.string().default('') }),
})

export type CometRpc = ReturnType<typeof cometRpc>

/** Calls of a node of the chain. @throws DeliveryError when it is not reached or refuses a call; TargetError */
export function cometRpc(url: URL, limits: Limits) {
  async function call<T>(method: string, params: Record<string, unknown>, Result: z.ZodType<T>): Promise<T | { error: string }> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
    const response = await post({ url, headers: { 'content-type': 'application/json' }, body }, limits)
    const reply = Reply.safeParse(jsonOf(response.text))
    // Some servers send errors with the status 500.
    if (!reply.success || (!reply.data.error && response.status !== 200)) {
      assertAcceptedStatus(url.origin, response)
      throw new DeliveryError(`${url.origin} does not answer like a CometBFT RPC. Set its address.`)
    }
    if (reply.data.error) return { error: [reply.data.error.message, reply.data.error.data].filter(Boolean).join(': ') }
    const result = Result.safeParse(reply.data.result)
    if (!result.success) throw new DeliveryError(`${url.origin} answers ${method} with an unknown result.`)
    return result.data
  }
  return {
    /** Account number and next sequence of an address. */
    async account(address: string): Promise<{ number: bigint; sequence: number }> {
      const data = Buffer.from(QueryAccountRequest.encode({ address }).finish()).toString('hex')
      const result = await call('abci_query', { path: '/cosmos.auth.v1beta1.Query/Account', data, prove: false }, AbciQuery)
      if ('error' in result) throw new DeliveryError(`${url.origin}: ${result.error}`)
      const { code, log, value } = result.response
      if (code !== 0 || !value)
        throw new DeliveryError(
          `The chain does not have the account ${address}${log ? ` (${log})` : ''}. Send it funds for fees.`,
        )
      const { account } = QueryAccountResponse.decode(Buffer.from(value, 'base64'))
      if (account?.typeUrl !== '/cosmos.auth.v1beta1.BaseAccount')
        throw new DeliveryError(`The account ${address} has the type ${account?.typeUrl}; use a plain account.`)
      const { accountNumber, sequence } = BaseAccount.decode(account.value)
      return { number: accountNumber, sequence: Number(sequence) }
    },
    /** Sends a transaction. @returns why the node refused it; null when it is in its pool */
    async broadcast(transaction: Uint8Array): Promise<string | null> {
      const result = await call('broadcast_tx_sync', { tx: Buffer.from(transaction).toString('base64') }, Broadcast)
      if ('error' in result) return /already (exists )?in cache/.test(result.error) ? null : result.error
      return result.code === 0 ? null : result.log || `code ${result.code}`
    },
    /** The included transaction with this hash, 32 bytes; null when there is none. */
    async included(hash: Uint8Array): Promise<{ hash: string; height: number; error: string | null } | null> {
      const result = await call('tx', { hash: Buffer.from(hash).toString('base64'), prove: false }, Included)
      if ('error' in result) {
        if (/not found/i.test(result.error)) return null
        throw new DeliveryError(`${url.origin}: ${result.error}`)
      }
      const { code, log } = result.tx_result
      return { hash: result.hash, height: result.height, error: code === 0 ? null : log || `code ${code}` }
    },
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

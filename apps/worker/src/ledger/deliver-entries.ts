import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ctx } from '@muster/core/context'
import { type ClaimedLedgerSink, type LedgerSinkSecret, type Receipt, storeLedgerTransaction } from '@muster/core/ledger'
import { DeliveryError } from '../delivery/delivery-error.ts'
import type { Limits } from '../delivery/post.ts'
import { type CometRpc, cometRpc } from './comet-rpc.ts'
import { openSigner, signTransaction } from './sign-transaction.ts'

/** How often and how long to ask for the block. Afterwards the next attempt asks again. */
const POLL_MS = 1000
const POLLS = 20

type Options = Limits & {
  pollMs?: number
  secretsOf: (ctx: Ctx, sink: ClaimedLedgerSink['sink']) => Promise<Partial<Record<LedgerSinkSecret, string>>>
}

/**
 * Delivers the claimed entries in one transaction and waits for its block. A transaction is stored before it is sent, and the same
 * bytes are sent again until the chain has them: its hash is the idempotency key. It is replaced when the node refuses it at the first
 * attempt, or when the account's sequence shows that the chain can never include it.
 * @throws DeliveryError, TargetError, DomainError
 */
export async function deliverEntries(
  ctx: Ctx,
  claimed: ClaimedLedgerSink,
  { pollMs = POLL_MS, secretsOf, ...limits }: Options,
): Promise<Receipt> {
  const { sink, records } = claimed
  const { url, privateKey } = await secretsOf(ctx, sink)
  const rpc = cometRpc(new URL(url!), limits)
  const signer = await openSigner(privateKey!, sink.addressPrefix)
  if (sink.pendingTransaction) {
    const bytes = Buffer.from(sink.pendingTransaction, 'base64')
    const receipt = await receiptOf(ctx, claimed, rpc, bytes)
    if (receipt) return receipt
    const account = await rpc.account(signer.address)
    if (account.sequence > sink.pendingSequence!) {
      await storeLedgerTransaction(ctx, claimed, null)
      throw new DeliveryError('Another transaction of the account took the place of the pending one. The entries are sent again.')
    }
    // It may be in a pool although this node refuses it: only the sequence of the account shows that it is lost.
    const refused = await rpc.broadcast(bytes)
    if (refused !== null) throw new DeliveryError(`The chain refuses the transaction again: ${refused.slice(0, 500)}`)
    return waitForBlock(ctx, claimed, rpc, bytes, pollMs)
  }
  const transaction = await signTransaction(sink, records, signer, await rpc.account(signer.address))
  if (!(await storeLedgerTransaction(ctx, claimed, transaction)))
    throw new DeliveryError('Another worker delivers the entries of this sink.')
  return send(ctx, claimed, rpc, transaction.bytes, pollMs)
}

async function send(ctx: Ctx, claimed: ClaimedLedgerSink, rpc: CometRpc, bytes: Uint8Array, pollMs: number): Promise<Receipt> {
  const refused = await rpc.broadcast(bytes)
  if (refused !== null) {
    // A transaction that the node refuses is not in its pool. The next attempt signs a new one with current numbers.
    await storeLedgerTransaction(ctx, claimed, null)
    throw new DeliveryError(`The chain refuses the transaction: ${refused.slice(0, 500)}`)
  }
  return waitForBlock(ctx, claimed, rpc, bytes, pollMs)
}

async function waitForBlock(
  ctx: Ctx,
  claimed: ClaimedLedgerSink,
  rpc: CometRpc,
  bytes: Uint8Array,
  pollMs: number,
): Promise<Receipt> {
  for (let poll = 0; poll < POLLS; poll++) {
    const receipt = await receiptOf(ctx, claimed, rpc, bytes)
    if (receipt) return receipt
    await sleep(pollMs)
  }
  throw new DeliveryError('The transaction is not in a block yet. The same one is checked and sent again.')
}

/** The receipt of an included transaction; null when it is in no block. @throws DeliveryError when the chain failed to execute it */
async function receiptOf(ctx: Ctx, claimed: ClaimedLedgerSink, rpc: CometRpc, bytes: Uint8Array): Promise<Receipt | null> {
  const found = await rpc.included(createHash('sha256').update(bytes).digest())
  if (!found) return null
  if (found.error !== null) {
    await storeLedgerTransaction(ctx, claimed, null)
    // Each attempt costs a fee, and the next one would most likely fail too.
    throw new DeliveryError(`The chain charged for the transaction ${found.hash}, but failed: ${found.error.slice(0, 500)}`, {
      isFinal: true,
    })
  }
  return { transactionHash: found.hash, height: found.height }
}

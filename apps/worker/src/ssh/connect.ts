import type { NodeAccess } from '@muster/core/credentials/access'
import type { Client } from 'ssh2'
import { dial, dialThrough } from './dial.ts'
import { execOver, type Session } from './exec.ts'
import { SshFailure } from './failure.ts'
import { shakeHands } from './handshake.ts'
import { type OnStage, walkStages } from './stages.ts'
import { routeTo, type Target } from './target.ts'

export type ConnectOptions = {
  /** Each stage of each hop may take this long. */
  timeoutMs: number
  signal?: AbortSignal
  onStage?: OnStage
  /** For the preflight only: go to a machine whose key nobody has approved, up to where it shows its key. */
  showHostKey?: boolean
}

const CLOSE_GRACE_MS = 500

/**
 * Sign in to a node, by way of its bastions. Every hop must show its pinned host key.
 * @throws SshFailure that names the stage and the hop; nothing stays open then
 */
export async function connectNode(access: NodeAccess, options: ConnectOptions): Promise<Session> {
  const route = routeTo(access)
  const clients: Client[] = []
  const limits = { timeoutMs: options.timeoutMs, signal: options.signal ?? new AbortController().signal }
  const close = () => {
    for (const client of clients.splice(0).reverse()) end(client)
  }
  try {
    if (!options.showHostKey) refuseUnapproved(route)
    for (const [i, target] of route.entries()) {
      const walk = walkStages(target, options.onStage)
      const via = clients.at(-1)
      const sock = via ? await dialThrough(via, route[i - 1]!, target, walk, limits) : await dial(target, walk, limits)
      clients.push(await shakeHands(sock, target, walk, limits))
    }
  } catch (error) {
    close()
    throw error
  }
  const node = clients.at(-1)!
  return { exec: (command, execOptions) => execOver(node, command, execOptions), close }
}

function refuseUnapproved(route: Target[]): void {
  const target = route.find(({ hostKey }) => !hostKey)
  if (target)
    throw new SshFailure(
      { stage: 'HOST_KEY', hop: target.hop },
      'Its host key has not been approved.',
      'Test the connection and approve the key it shows.',
    )
}

/** Says goodbye, and closes the socket by force when the other side does not follow. */
function end(client: Client): void {
  client.removeAllListeners('error').on('error', () => {})
  const force = setTimeout(() => client.destroy(), CLOSE_GRACE_MS).unref()
  client.once('close', () => clearTimeout(force))
  client.end()
}

import type { NodeAccess } from '@muster/core/credentials/access'
import { type BastionPool, connectHop, endClient } from './bastion-pool.ts'
import { connectSocketOver, execOver, type Session } from './exec.ts'
import { SshFailure } from './ssh-failure.ts'
import type { OnStage } from './stage-recorder.ts'
import { routeTo, type Target } from './target.ts'

export type ConnectOptions = {
  /** Each stage of each hop may take this long. */
  timeoutMs: number
  /** Shared by all connections of this process. */
  bastions: BastionPool
  signal?: AbortSignal
  onStage?: OnStage
  /** Preflight only: connect to a machine without an approved key until it presents its key. */
  showHostKey?: boolean
}

/**
 * Signs in to a node through its bastions. Every hop must present its pinned host key.
 * @throws SshFailure with stage and hop; all connections are closed then
 */
export async function connectNode(access: NodeAccess, options: ConnectOptions): Promise<Session> {
  const { timeoutMs, bastions, onStage, signal = new AbortController().signal } = options
  const route = routeTo(access)
  if (!options.showHostKey) assertApproved(route)
  const hops = route.slice(0, -1)
  const { client: bastion, release } = await bastions.lease(hops, { timeoutMs, onStage })
  try {
    const client = await connectHop(route.at(-1)!, hops.at(-1), bastion, { timeoutMs, signal }, onStage)
    client.once('close', release)
    return {
      exec: (command, execOptions) => execOver(client, command, execOptions),
      connectSocket: (path, signal) => connectSocketOver(client, path, signal),
      close: () => endClient(client),
    }
  } catch (error) {
    release()
    throw error
  }
}

function assertApproved(route: Target[]): void {
  const target = route.find(({ hostKey }) => !hostKey)
  if (target)
    throw new SshFailure(
      { stage: 'HOST_KEY', hop: target.hop },
      'Its host key has not been approved.',
      'Test the connection and approve the presented key.',
    )
}

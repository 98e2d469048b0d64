import type { NodeAccess } from '@muster/core/credentials/access'
import { type Bastions, connectHop, endClient } from './bastions.ts'
import { execOver, type Session } from './exec.ts'
import { SshFailure } from './failure.ts'
import type { OnStage } from './stages.ts'
import { routeTo, type Target } from './target.ts'

export type ConnectOptions = {
  /** Each stage of each hop may take this long. */
  timeoutMs: number
  /** Shared with all others who connect. */
  bastions: Bastions
  signal?: AbortSignal
  onStage?: OnStage
  /** For the preflight only: go to a machine whose key nobody has approved, up to where it shows its key. */
  showHostKey?: boolean
}

/**
 * Sign in to a node, by way of its bastions. Every hop must show its pinned host key.
 * @throws SshFailure that names the stage and the hop; nothing stays open then
 */
export async function connectNode(access: NodeAccess, options: ConnectOptions): Promise<Session> {
  const { timeoutMs, bastions, onStage, signal = new AbortController().signal } = options
  const route = routeTo(access)
  if (!options.showHostKey) refuseUnapproved(route)
  const hops = route.slice(0, -1)
  const { client: bastion, release } = await bastions.lease(hops, { timeoutMs, onStage })
  try {
    const client = await connectHop(route.at(-1)!, hops.at(-1), bastion, { timeoutMs, signal }, onStage)
    client.once('close', release)
    return {
      exec: (command, execOptions) => execOver(client, command, execOptions),
      close: () => endClient(client),
    }
  } catch (error) {
    release()
    throw error
  }
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

import type { NodeAccess } from '@muster/core/credentials/access'
import { type ConnectOptions, connectNode } from './connect.ts'
import type { Session } from './exec.ts'
import { localSession } from './local.ts'
import { walkStages } from './stages.ts'

/** A session on a node, by its connection type. @throws SshFailure */
export async function openSession(access: NodeAccess, options: ConnectOptions): Promise<Session> {
  if (access.node.connectionType === 'ssh') return connectNode(access, options)
  const walk = walkStages({ hop: null }, options.onStage)
  for (const stage of ['RESOLVE', 'TCP', 'BANNER', 'HOST_KEY', 'AUTHENTICATION'] as const)
    walk.skip(stage, 'the machine on which the worker runs')
  return localSession()
}

import type { NodeAccess } from '@muster/core/credentials/access'
import { type ConnectOptions, connectNode } from './connect.ts'
import type { Session } from './exec.ts'
import { localSession } from './local-session.ts'
import { createStageRecorder } from './stage-recorder.ts'

/** Opens a session on a node according to its connection type. @throws SshFailure */
export async function openSession(access: NodeAccess, options: ConnectOptions): Promise<Session> {
  if (access.node.connectionType === 'ssh') return connectNode(access, options)
  const recorder = createStageRecorder({ hop: null }, options.onStage)
  for (const stage of ['RESOLVE', 'TCP', 'BANNER', 'HOST_KEY', 'AUTHENTICATION'] as const)
    recorder.skip(stage, 'the worker runs on this machine')
  return localSession()
}

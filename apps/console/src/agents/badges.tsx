import { t } from '@/messages/index.ts'
import { State, type Tone } from '@/ui/badge.tsx'
import type { AgentState as Name } from './documents.ts'

export const agentTones: Record<Name, Tone> = {
  ACTIVE: 'ok',
  STALE: 'warn',
  OFFLINE: 'bad',
  DRAINING: 'accent',
  DRAINED: 'accent',
  PENDING: 'neutral',
  DEREGISTERED: 'neutral',
}

/** The state of an agent. */
export function AgentState({ state, reason }: { state: Name; reason?: string | null }) {
  return (
    <State tone={agentTones[state]} title={reason ?? undefined}>
      {t(`agentState.${state}`)}
    </State>
  )
}

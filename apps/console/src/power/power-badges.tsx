import { t } from '@/messages/index.ts'
import { State, type Tone } from '@/ui/badge.tsx'
import type { Bmc, PowerRunProgress } from './documents.ts'

const stateTones: Record<Bmc['powerState'], Tone> = {
  ON: 'ok',
  OFF: 'neutral',
  POWERING_ON: 'accent',
  POWERING_OFF: 'accent',
  UNKNOWN: 'warn',
}
export const statusTones: Record<PowerRunProgress['status'], Tone> = {
  PENDING: 'neutral',
  RUNNING: 'accent',
  CANCELING: 'accent',
  SUCCEEDED: 'ok',
  PARTIAL: 'warn',
  FAILED: 'bad',
  CANCELED: 'neutral',
}
const resultTones: Record<PowerRunProgress['results'][number]['result'], Tone> = {
  DONE: 'ok',
  UNCHANGED: 'neutral',
  ACCEPTED: 'ok',
  REFUSED: 'bad',
  UNREACHABLE: 'bad',
  NOT_VERIFIED: 'warn',
  NOT_SENT: 'neutral',
}

export const PowerStateBadge = ({ state }: { state: Bmc['powerState'] }) => (
  <span data-testid="power-state" data-state={state}>
    <State tone={stateTones[state]}>{t(`powerState.${state}`)}</State>
  </span>
)

export const PowerResultBadge = ({ result }: { result: PowerRunProgress['results'][number]['result'] }) => (
  <State tone={resultTones[result]}>{t(`powerResult.${result}`)}</State>
)

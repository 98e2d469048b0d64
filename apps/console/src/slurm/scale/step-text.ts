import { t } from '@/messages/index.ts'

/** The name of an operation's step. Steps of another version of the worker have no translation. */
export function stepText(name: string): string {
  const key = `slurmOperationStep.${name}` as 'slurmOperationStep.undo'
  return t.has(key) ? t(key) : name
}

/** The state of a node in an operation. Those of another version of the worker have no translation. */
export function phaseText(phase: string): string {
  const key = `slurmOperationPhase.${phase}` as 'slurmOperationPhase.WAITING'
  return t.has(key) ? t(key) : phase
}

import { checkedCount, checkedList, checkedReason, InvalidSlurmWord, reasonArgument } from './words.ts'

const update = (names: readonly string[], ...changes: string[]): string[] => [
  'scontrol',
  'update',
  `nodename=${checkedList('node', names)}`,
  ...changes,
]

/** Running jobs continue, no others start. */
export const drainNodes = (names: readonly string[], reason: string): string[] =>
  update(names, 'state=drain', reasonArgument(reason))

/** Slurm ends or requeues the jobs on the nodes. */
export const downNodes = (names: readonly string[], reason: string): string[] =>
  update(names, 'state=down', reasonArgument(reason))

/** Ends a drain and makes nodes that are down available. Slurm refuses it for others. */
export const resumeNodes = (names: readonly string[]): string[] => update(names, 'state=resume')

/** Ends a drain; nodes that are down stay down. */
export const undrainNodes = (names: readonly string[]): string[] => update(names, 'state=undrain')

export const powerUpNodes = (names: readonly string[]): string[] => update(names, 'state=power_up')

/** After the end of the nodes' jobs. */
export const powerDownNodes = (names: readonly string[]): string[] => update(names, 'state=power_down')

/** @param nextState of the node after the reboot */
export type RebootOptions = { nextState: 'RESUME' | 'DOWN'; reason: string }

/** Reboots nodes when their jobs have ended; no further jobs start on them (ASAP). */
export const rebootNodes = (names: readonly string[], { nextState, reason }: RebootOptions): string[] => [
  'scontrol',
  'reboot',
  'ASAP',
  `nextstate=${nextState}`,
  // Unlike `scontrol update`, it stores quotation marks.
  `reason=${checkedReason(reason)}`,
  checkedList('node', names),
]

/** What slurm.conf says is in effect again after slurmctld reads it anew. */
export type NodeChanges = { features?: readonly string[] | undefined; weight?: number | undefined }

/** Slurm refuses available features without the active ones among them, so both are set. */
export function updateNodes(names: readonly string[], { features, weight }: NodeChanges): string[] {
  const changes: string[] = []
  if (features) {
    const list = features.length === 0 ? '' : checkedList('feature', features)
    changes.push(`availablefeatures=${list}`, `activefeatures=${list}`)
  }
  if (weight !== undefined) changes.push(`weight=${checkedCount('weight', weight, 4_000_000_000)}`)
  if (changes.length === 0) throw new InvalidSlurmWord('needs features or a weight')
  return update(names, ...changes)
}

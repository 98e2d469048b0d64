import { type SlurmVerb, targetKind } from '@muster/slurm/commands'
import { foldHostlist } from '../selection/index.ts'

/** All targets of an action, as an audit entry names them: nodes as a hostlist, jobs, partitions and reservations one by one. */
export const auditedTargets = (verb: SlurmVerb, targets: readonly string[]): string =>
  targetKind(verb) === 'node' ? foldHostlist(targets) : targets.join(',')

/** Groups targets with the same facts, so that an audit entry can name all of thousands. */
export function auditedGroups<T extends { target: string }>(
  verb: SlurmVerb,
  rows: readonly T[],
): (Omit<T, 'target'> & { targets: string })[] {
  const groups = Map.groupBy(rows, ({ target: _target, ...facts }) => JSON.stringify(facts))
  return [...groups.values()].map((group) => {
    const { target: _target, ...facts } = group[0]!
    const names = group.map(({ target }) => target)
    return { ...facts, targets: auditedTargets(verb, names) }
  })
}

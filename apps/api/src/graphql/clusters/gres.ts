import type { SlurmNodeRow } from '@muster/core/clusters'
import { builder } from '../../builder.ts'
import { toInt } from './reports.ts'

type Gres = SlurmNodeRow['report']['gres'][number]
type UsedGres = Gres & { used: number | null; usedIndexes: string | null }

/** Configured resources with how many of each are used. */
export function withUse(gres: Gres[], used: Gres[]): UsedGres[] {
  return gres.slice(0, 100).map((one) => {
    const same = used.find(({ name, type }) => name === one.name && type === one.type)
    return { ...one, used: same?.count ?? 0, usedIndexes: same?.indexes ?? null }
  })
}

/** Requested resources. */
export const withoutUse = (gres: Gres[]): UsedGres[] =>
  gres.slice(0, 100).map((one) => ({ ...one, used: null, usedIndexes: null }))

export const SlurmGres = builder.objectRef<UsedGres>('SlurmGres').implement({
  description: 'Generic resources of one name and type, for example 4 GPUs of type `h100`.',
  fields: (t) => ({
    name: t.exposeString('name', { description: '`gpu`, `shard`, `mps` or a name that the site chose.' }),
    type: t.exposeString('type', { nullable: true, description: 'Type, for example `h100`; null when none is configured.' }),
    count: t.int({ description: 'Number that is configured, or requested per node.', resolve: ({ count }) => toInt(count) }),
    used: t.int({
      nullable: true,
      description: 'Number that is allocated to jobs; null for a request.',
      resolve: ({ used }) => (used === null ? null : toInt(used)),
    }),
    usedIndexes: t.exposeString('usedIndexes', {
      nullable: true,
      description: 'Allocated devices as Slurm numbers them, for example `0-3`; null when Slurm does not print them.',
    }),
  }),
})

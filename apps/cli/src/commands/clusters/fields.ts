import type { Command } from '../../command.ts'
import { allowEmpty, emptyToNull, integer, omitUndefined } from '../../options.ts'
import { selectNode } from '../../selector.ts'
import { type SlurmrestdOptions, slurmrestdFields, withSlurmrestd } from './slurmrestd.ts'

export type FieldOptions = SlurmrestdOptions & { region?: string; backup?: string; programs?: string; maxNodes?: number | '' }

/** Options for the fields of a cluster. */
export const withFields = (command: Command): Command =>
  withSlurmrestd(command)
    .option('--region <region>', 'region')
    .option('--backup <controller>', 'node that is used when the controller does not answer')
    .option('--programs <folder>', "folder of Slurm's programs on these nodes, such as /opt/slurm/bin")
    .option('--max-nodes <n>', 'maximum number of nodes', allowEmpty(integer))

/** Input fields of the API; an empty option clears the field. */
export async function fields({ region, backup, programs, maxNodes, ...options }: FieldOptions) {
  return omitUndefined({
    ...(await slurmrestdFields(options)),
    region: emptyToNull(region),
    programFolder: emptyToNull(programs),
    maxNodes: emptyToNull(maxNodes),
    backupNodeId: backup ? (await selectNode(backup)).id : emptyToNull(backup),
  })
}

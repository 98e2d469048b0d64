import type { Command } from '../../command.ts'
import { groupId } from '../../lookup.ts'
import { emptyToNull, omitUndefined, oneOf, wholeNumber } from '../../options.ts'

export type FieldOptions = {
  displayName?: string
  description?: string
  kind?: GroupKind
  priority?: number
  parent?: string
  query?: string
  set?: string
  system?: boolean
}

const kinds = ['AD_HOC', 'PROJECT', 'PARTITION', 'JOB'] as const
type GroupKind = (typeof kinds)[number]
export const groupKind = oneOf(...kinds)

/** Options for the fields of a group. */
export const withFields = (command: Command): Command =>
  command
    .option('--display-name <text>', 'display name')
    .option('--description <text>', 'purpose')
    .option('--kind <kind>', 'what the group stands for: ad-hoc, project, partition or job', groupKind)
    .option('--priority <n>', 'precedence among groups of the same depth; the lower number wins', wholeNumber)
    .option('--parent <group>', 'parent group: contains these nodes too; variables of the child win')
    .option('--query <query>', 'membership by query: accelerator.vendor = amd and tag = prod')
    .option('--set <name>', 'exclusive set: a node is in at most one group of a set')
    .option('--system', 'protect the group from renaming and deletion; requires an admin')
    .option('--no-system', 'remove this protection')

/** Input fields of the API; an empty option clears the field. */
export async function fields(options: FieldOptions) {
  const { parent, query, set, displayName, system, ...rest } = options
  return omitUndefined({
    ...rest,
    displayName: emptyToNull(displayName),
    parentId: parent ? await groupId(parent) : emptyToNull(parent),
    memberQuery: emptyToNull(query),
    exclusiveSet: emptyToNull(set),
    isSystem: system,
  })
}

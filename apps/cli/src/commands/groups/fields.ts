import { InvalidArgumentError } from 'commander'
import type { Command } from '../../command.ts'
import { groupId } from '../../lookup.ts'
import { emptyToNull, omitUndefined } from '../../options.ts'

export type FieldOptions = {
  displayName?: string
  description?: string
  priority?: number
  parent?: string
  query?: string
  set?: string
  system?: boolean
}

function priority(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0.')
  return Number(text)
}

/** Options for the fields of a group. */
export const withFields = (command: Command): Command =>
  command
    .option('--display-name <text>', 'display name')
    .option('--description <text>', 'purpose')
    .option('--priority <n>', 'precedence among groups of the same depth; the lower number wins', priority)
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

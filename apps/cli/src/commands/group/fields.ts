import { type Command, InvalidArgumentError } from 'commander'
import { groupId } from '../../ids.ts'
import { given, orNull } from '../../options.ts'

export type FieldOptions = {
  displayName?: string
  description?: string
  priority?: number
  parent?: string
  query?: string
  set?: string
}

function priority(text: string): number {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 0.')
  return Number(text)
}

/** Options for what people set of a group. */
export const withFields = (command: Command): Command =>
  command
    .option('--display-name <text>', 'a name for people')
    .option('--description <text>', 'what it is for')
    .option('--priority <n>', 'of two groups at one depth the lower number wins', priority)
    .option('--parent <group>', 'the group above it, which has its nodes too; its variables win over that one’s')
    .option('--query <query>', 'the nodes that fit are in it: accelerator.vendor = amd and tag = prod')
    .option('--set <name>', 'exclusive set: a node is in one group of a set at most')

/** The options as fields of the API; what is given empty is taken away. */
export async function fields(options: FieldOptions) {
  const { parent, query, set, displayName, ...rest } = options
  return given({
    ...rest,
    displayName: orNull(displayName),
    parentId: parent ? await groupId(parent) : orNull(parent),
    memberQuery: orNull(query),
    exclusiveSet: orNull(set),
  })
}

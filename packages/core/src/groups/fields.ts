import { z } from 'zod'
import { multilineText, singleLineText } from '../kernel/input.ts'
import { GROUP_KINDS } from './tables.ts'

/** Group names are variable names in Ansible. Hyphens and dots cause warnings there, so they are not allowed. */
export const GroupName = z
  .string()
  .max(64, 'must have at most 64 characters')
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must begin with a letter and contain only letters, digits and _')
  .refine(
    (name) => !['all', 'ungrouped', '_meta', 'localhost', 'hostvars', 'groups', 'group_names'].includes(name),
    'is reserved by Ansible; choose another name',
  )

/** Fields of a group that users can set. */
export const GROUP_FIELDS = {
  name: GroupName,
  displayName: singleLineText(128).nullish(),
  description: multilineText(2000).nullish(),
  kind: z.enum(GROUP_KINDS, 'must be AD_HOC, PROJECT, PARTITION or JOB').nullish(),
  /** Among a node's groups, the lower number wins. */
  priority: z.number().int('must be a whole number').min(0).max(100_000).nullish(),
  parentId: z.uuid('must be an id').nullish(),
  memberQuery: singleLineText(2000).nullish(),
  exclusiveSet: singleLineText(64).nullish(),
  /** A system group cannot be renamed or deleted. */
  isSystem: z.boolean().nullish(),
}

import { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { Conflict, parseInput } from '../errors.ts'
import { oneLine, prose } from '../input.ts'
import { type NodeGroup, nodeGroups } from './tables.ts'

/** Ansible takes group names as variable names; hyphens and dots draw warnings there, so they are not allowed. */
export const GroupName = z
  .string()
  .max(64, 'must have at most 64 characters')
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must begin with a letter and hold only letters, digits and _')
  .refine(
    (name) => !['all', 'ungrouped', 'localhost', 'hostvars', 'groups', 'group_names'].includes(name),
    'means something else to Ansible; choose another name',
  )

export const CreateNodeGroupInput = z.object({
  name: GroupName,
  displayName: oneLine(128).nullish(),
  description: prose(2000).nullish(),
  /** Among a node's groups the lower number wins. */
  priority: z.number().int('must be a whole number').min(0).max(100_000).nullish(),
})

/** @throws InvalidInput, Conflict the name is taken */
export async function createNodeGroup(ctx: Ctx, input: z.input<typeof CreateNodeGroupInput>): Promise<NodeGroup> {
  authorize(ctx, 'group:write')
  const { name, displayName, description, priority } = parseInput(CreateNodeGroupInput, input)
  return inTransaction(ctx, async (tx) => {
    const [group] = await tx
      .insert(nodeGroups)
      .values({
        tenantId: ctx.tenantId,
        name,
        displayName: displayName ?? null,
        description: description ?? '',
        priority: priority ?? 100,
      })
      .onConflictDoNothing()
      .returning()
    if (!group) throw new Conflict(`There is already a group named ${name}; choose another name or change that group's members.`)
    await audit(tx, ctx, 'node_group.create', group)
    return group
  })
}

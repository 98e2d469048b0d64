import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../../idempotency/index.ts'
import { authorize, type Ctx } from '../../kernel/context.ts'
import { newId } from '../../kernel/db/columns.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import { singleLineText } from '../../kernel/input.ts'
import { memberAudit } from '../audit-actions.ts'
import { memberPermissions } from '../permissions.ts'
import { ownerServiceAccountReason } from '../policy.ts'
import { assertGrantable } from '../roles/assert-grantable.ts'
import { RoleName } from '../roles/role-fields.ts'
import { type Member, members, users } from '../tables.ts'

export const CreateServiceAccountInput = z.object({
  name: singleLineText(100),
  role: RoleName,
  idempotencyKey: IdempotencyKey,
})

/**
 * Creates a member for programs, which cannot sign in. Its API tokens stay valid when the member who created them is removed.
 * @throws Forbidden the role is above the caller's; Conflict the role is owner
 */
export async function createServiceAccount(ctx: Ctx, input: z.input<typeof CreateServiceAccountInput>): Promise<Member> {
  authorize(ctx, memberPermissions.write)
  const { idempotencyKey, ...fields } = parseInput(CreateServiceAccountInput, input)
  const { name, role } = fields
  const unsuitable = ownerServiceAccountReason({ name, isServiceAccount: true }, role)
  if (unsuitable) throw new Conflict(unsuitable)
  const request = { verb: 'createServiceAccount', key: idempotencyKey, input: fields, result: oneRow(members) }
  // Only the system role adds users.
  return idempotent({ ...ctx, db: ctx.systemDb }, request, async (tx, ctx) => {
    await assertGrantable(tx, ctx, memberPermissions.write, role)
    const id = newId()
    // The address cannot receive mail: RFC 2606 reserves the domain.
    await tx.insert(users).values({ id, name, email: `${id}@service-account.invalid`, isServiceAccount: true })
    const [member] = await tx.insert(members).values({ tenantId: ctx.tenantId, userId: id, role }).returning()
    await audit(tx, ctx, memberAudit.add, { id: member!.id, name }, { role, isServiceAccount: true })
    return member!
  })
}

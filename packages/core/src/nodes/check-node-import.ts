import type { z } from 'zod'
import { authorize, type Ctx } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { authorizeConnectionType, checkReferences } from './fields.ts'
import { NodeImportInput, planImport, report } from './import/plan.ts'
import type { NodeImportReport } from './import/rows.ts'
import { nodePermissions } from './permissions.ts'

/**
 * Reports what `importNodes` would do, without writing.
 * @throws InvalidInput at text or defaults
 */
export async function checkNodeImport(ctx: Ctx, input: z.input<typeof NodeImportInput>): Promise<NodeImportReport> {
  authorize(ctx, nodePermissions.write)
  const wanted = parseInput(NodeImportInput, input)
  authorizeConnectionType(ctx, wanted.defaults?.connectionType)
  await checkReferences(ctx.db, ctx, wanted.defaults ?? {}, { prefix: 'defaults.' })
  return report(await planImport(ctx.db, ctx, wanted))
}

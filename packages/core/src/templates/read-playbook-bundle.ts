import { and, eq } from 'drizzle-orm'
import type { Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { NotFound } from '../kernel/errors.ts'
import { type UnpackedFile, unpackBundle } from './sources/unpack-bundle.ts'
import { playbookBundles } from './tables.ts'

/** Returns the files of a bundle, validated as at the upload. @throws NotFound */
export async function readPlaybookBundle(ctx: Ctx, id: string): Promise<UnpackedFile[]> {
  const [bundle] = await ctx.db
    .select({ content: playbookBundles.content })
    .from(playbookBundles)
    .where(and(visibleTo(ctx, playbookBundles), eq(playbookBundles.id, id)))
  if (!bundle) throw new NotFound(`There is no playbook bundle ${id}.`)
  return unpackBundle(bundle.content)
}

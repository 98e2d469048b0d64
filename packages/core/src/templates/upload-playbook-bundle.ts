import { createHash } from 'node:crypto'
import { and, eq, getColumns } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, type ResultStore } from '../idempotency/index.ts'
import { authorize, type Ctx, createdBy } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { singleLineText } from '../kernel/input.ts'
import { playbookBundleAudit } from './audit-actions.ts'
import { templatePermissions } from './permissions.ts'
import { unpackBundle } from './sources/unpack-bundle.ts'
import { type PlaybookBundle, playbookBundles } from './tables.ts'

export const UploadPlaybookBundleInput = z.object({
  /** The file's name. */
  name: singleLineText(200),
  /** A tar.gz or zip. */
  content: z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'must be the bytes of a file'),
  idempotencyKey: IdempotencyKey,
})

const { content: _content, ...COLUMNS } = getColumns(playbookBundles)

const result: ResultStore<PlaybookBundle> = {
  store: ({ id }) => id,
  async load(tx, ctx, id) {
    const isBundle = and(visibleTo(ctx, playbookBundles), eq(playbookBundles.id, id as string))
    return (await tx.select(COLUMNS).from(playbookBundles).where(isBundle))[0]
  },
}

/**
 * Stores an archive of playbooks for templates. Equal content returns the existing bundle.
 * @throws InvalidInput at content: not an archive, too large, or with invalid files
 */
export async function uploadPlaybookBundle(ctx: Ctx, input: z.input<typeof UploadPlaybookBundleInput>): Promise<PlaybookBundle> {
  authorize(ctx, templatePermissions.write)
  const { name, content, idempotencyKey } = parseInput(UploadPlaybookBundleInput, input)
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.byteLength)
  const files = (await unpackBundle(bytes)).map((file) => ({ path: file.path, size: file.bytes.length }))
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  return idempotent(ctx, { verb: 'uploadPlaybookBundle', key: idempotencyKey, input: { name, sha256 }, result }, async (tx) => {
    const [created] = await tx
      .insert(playbookBundles)
      .values({
        tenantId: ctx.tenantId,
        name,
        sha256,
        size: bytes.length,
        content: bytes,
        files,
        ...createdBy(ctx),
      })
      .onConflictDoNothing()
      .returning(COLUMNS)
    if (created) {
      await audit(tx, ctx, playbookBundleAudit.upload, created, { sha256, size: created.size, files: files.length })
      return created
    }
    const [known] = await tx
      .select(COLUMNS)
      .from(playbookBundles)
      .where(and(visibleTo(ctx, playbookBundles), eq(playbookBundles.sha256, sha256)))
    return known!
  })
}

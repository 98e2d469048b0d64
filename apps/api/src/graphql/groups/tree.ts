import { type GroupTree, readGroupTree } from '@muster/core/groups'
import { createContextCache } from '@pothos/core'
import type { ApiContext } from '../../context.ts'

/** The tenant's groups with what hangs under what, read once a request. */
export const groupTree: (context: ApiContext) => Promise<GroupTree> = createContextCache(({ ctx }: ApiContext) =>
  readGroupTree(ctx.db, ctx),
)

import { type GroupTree, readGroupTree } from '@muster/core/groups'
import { createContextCache } from '@pothos/core'
import type { ApiContext } from '../../context.ts'

/** The group tree of the tenant, read once per request. */
export const groupTree: (context: ApiContext) => Promise<GroupTree> = createContextCache(({ ctx }: ApiContext) =>
  readGroupTree(ctx.db, ctx),
)

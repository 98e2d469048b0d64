import { schema } from '@muster/core/registry'
import { asc } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { Worker } from './types.ts'

const { workers } = schema

builder.queryFields((t) => ({
  workers: t.field({
    type: [Worker],
    description: 'The workers of the installation, by name.',
    authScopes: { authenticated: true },
    resolve: (_root, _args, { ctx }) => ctx.db.select().from(workers).orderBy(asc(workers.name)),
  }),
}))

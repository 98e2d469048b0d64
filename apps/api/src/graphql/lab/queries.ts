import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, inArray } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { LAB_CREDENTIALS, labCsv, readLab } from '../../lab.ts'
import { LabOffer } from './types.ts'

const { computeNodes, credentials } = schema

builder.queryField('labOffer', (t) =>
  t.field({
    type: LabOffer,
    nullable: true,
    description: 'The lab that was started with Muster; null without a lab.',
    authScopes: { permission: tenantPermissions.read },
    resolve: async (_root, _args, { ctx, deps }) => {
      const lab = await readLab(deps.labFile)
      if (!lab) return null
      const names = [LAB_CREDENTIALS.key, ...(lab.bastion ? [LAB_CREDENTIALS.bastion] : [])]
      const made = await ctx.db.$count(credentials, and(visibleTo(ctx, credentials), inArray(credentials.name, names)))
      const added = await ctx.db
        .select({ name: computeNodes.name })
        .from(computeNodes)
        .where(
          and(
            visibleTo(ctx, computeNodes),
            inArray(
              computeNodes.name,
              lab.nodes.map(({ name }) => name),
            ),
          ),
        )
      return {
        areCredentialsReady: made === names.length,
        nodes: lab.nodes.map(({ name, host, port, profile, behindBastion }) => {
          const isAdded = added.some((node) => node.name === name)
          return { name, host, port, profile, isBehindBastion: behindBastion, isAdded }
        }),
        nodeImport: { format: 'CSV' as const, text: labCsv(lab) },
      }
    },
  }),
)

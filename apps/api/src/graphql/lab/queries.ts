import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import type { LabDescription } from '@muster/lab'
import { and, inArray, or } from 'drizzle-orm'
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
      const known = await ctx.db
        .select({ name: computeNodes.name, host: computeNodes.host, port: computeNodes.port })
        .from(computeNodes)
        .where(
          and(
            visibleTo(ctx, computeNodes),
            or(
              inArray(
                computeNodes.name,
                lab.nodes.map(({ name }) => name),
              ),
              inArray(
                computeNodes.host,
                lab.nodes.map(({ host }) => host),
              ),
            ),
          ),
        )
      // A node may have been added under another name.
      const isKnown = ({ name, host, port }: LabDescription['nodes'][number]) =>
        known.some((node) => node.name === name || (node.host === host && node.port === port))
      return {
        areCredentialsReady: made === names.length,
        nodes: lab.nodes.map((node) => {
          const { name, host, port, profile, behindBastion } = node
          return { name, host, port, profile, isBehindBastion: behindBastion, isAdded: isKnown(node) }
        }),
        nodeImport: { format: 'CSV' as const, text: labCsv({ ...lab, nodes: lab.nodes.filter((node) => !isKnown(node)) }) },
      }
    },
  }),
)

import { schema, visibleTo } from '@muster/core/db'
import { and, inArray } from 'drizzle-orm'
import { builder } from '../builder.ts'
import { LAB_CREDENTIALS, labCsv, readLab } from '../lab.ts'

const { computeNodes, credentials } = schema

type Offered = { name: string; host: string; port: number; profile: string; behindBastion: boolean; alreadyAdded: boolean }

const LabNodeOffer = builder.objectRef<Offered>('LabNodeOffer').implement({
  description: 'A lab node that can be added.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name.' }),
    host: t.exposeString('host', { description: 'Its address.' }),
    port: t.exposeInt('port', { description: 'Port of its SSH server.' }),
    profile: t.exposeString('profile', { description: 'What hardware it pretends to have.' }),
    behindBastion: t.exposeBoolean('behindBastion', { description: 'Whether it is reached through the bastion only.' }),
    alreadyAdded: t.exposeBoolean('alreadyAdded', { description: 'Whether a node of that name is there already.' }),
  }),
})

const LabOffer = builder.objectRef<{ credentialsReady: boolean; nodes: Offered[]; importInput: object }>('LabOffer').implement({
  description: 'Real SSH hosts on this machine, for trying things out.',
  fields: (t) => ({
    credentialsReady: t.exposeBoolean('credentialsReady', { description: 'Whether the credentials for them have been made.' }),
    nodes: t.expose('nodes', { type: [LabNodeOffer], description: 'The nodes.' }),
    importInput: t.expose('importInput', {
      type: 'JSON',
      description: 'A NodeImportInput that adds all of them, ready to be sent.',
    }),
  }),
})

builder.queryField('labOffer', (t) =>
  t.field({
    type: LabOffer,
    nullable: true,
    description: 'The lab that was started along with Muster; null without one.',
    authScopes: { authenticated: true },
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
        credentialsReady: made === names.length,
        nodes: lab.nodes.map(({ name, host, port, profile, behindBastion }) => {
          return { name, host, port, profile, behindBastion, alreadyAdded: added.some((node) => node.name === name) }
        }),
        importInput: { format: 'CSV', text: labCsv(lab) },
      }
    },
  }),
)

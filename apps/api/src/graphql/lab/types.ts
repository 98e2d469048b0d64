import { builder } from '../../builder.ts'
import { ImportFormat } from '../nodes/import/enums.ts'

type OfferedNode = { name: string; host: string; port: number; profile: string; isBehindBastion: boolean; isAdded: boolean }

const LabNodeOffer = builder.objectRef<OfferedNode>('LabNodeOffer').implement({
  description: 'A lab node that can be added.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name.' }),
    host: t.exposeString('host', { description: 'Address.' }),
    port: t.exposeInt('port', { description: 'SSH port.' }),
    profile: t.exposeString('profile', { description: 'Simulated hardware profile.' }),
    isBehindBastion: t.exposeBoolean('isBehindBastion', { description: 'Whether the node is reached through the bastion.' }),
    isAdded: t.exposeBoolean('isAdded', { description: 'Whether a node with this name or address exists.' }),
  }),
})

type Import = { format: 'CSV'; text: string }

const LabNodeImport = builder.objectRef<Import>('LabNodeImport').implement({
  description: 'Input of `importNodes` that adds all lab nodes.',
  fields: (t) => ({
    format: t.expose('format', { type: ImportFormat, description: 'Format of the text.' }),
    text: t.exposeString('text', { description: 'Table of the lab nodes.' }),
  }),
})

export const LabOffer = builder
  .objectRef<{ areCredentialsReady: boolean; nodes: OfferedNode[]; nodeImport: Import }>('LabOffer')
  .implement({
    description: 'Simulated SSH nodes on this machine, for evaluation.',
    fields: (t) => ({
      areCredentialsReady: t.exposeBoolean('areCredentialsReady', { description: 'Whether the credentials of the lab exist.' }),
      nodes: t.expose('nodes', { type: [LabNodeOffer], description: 'Lab nodes; at most as many as the lab was started with.' }),
      nodeImport: t.expose('nodeImport', {
        type: LabNodeImport,
        description: 'Import that adds the lab nodes that are not added yet.',
      }),
    }),
  })

import { builder } from '../../builder.ts'

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

export const LabOffer = builder
  .objectRef<{ credentialsReady: boolean; nodes: Offered[]; importInput: object }>('LabOffer')
  .implement({
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

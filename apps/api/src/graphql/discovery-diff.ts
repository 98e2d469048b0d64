import { diffNodeDiscoveries } from '@muster/core/nodes'
import { builder } from '../builder.ts'
import { rowId } from './ids.ts'

const DiscoveryChange = builder.objectRef<Awaited<ReturnType<typeof diffNodeDiscoveries>>[number]>('DiscoveryChange').implement({
  description: 'One difference between two discoveries.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'Where in the result, dotted.' }),
    label: t.exposeString('label', { description: 'What it is about, for people.' }),
    kind: t.exposeString('kind', { description: 'added, removed or changed.' }),
    before: t.expose('before', { type: 'JSON', nullable: true, description: 'What was there; null when it was added.' }),
    after: t.expose('after', { type: 'JSON', nullable: true, description: 'What is there; null when it was removed.' }),
  }),
})

builder.queryField('discoveryDiff', (t) =>
  t.field({
    type: [DiscoveryChange],
    description:
      'In what two discoveries differ: those of one node at two times, or of two nodes. Of two nodes, names, addresses and serial numbers are left out.',
    authScopes: { authenticated: true },
    args: {
      before: t.arg.id({ required: true, description: 'The discovery to start from.' }),
      after: t.arg.id({ required: true, description: 'The discovery to compare with it.' }),
    },
    complexity: 100,
    resolve: (_root, { before, after }, { ctx }) =>
      diffNodeDiscoveries(ctx, { before: rowId('Discovery', before), after: rowId('Discovery', after) }),
  }),
)

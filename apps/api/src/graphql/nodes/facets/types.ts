import { builder } from '../../../builder.ts'

export type FacetRow = { value: string; count: number }

const Facet = builder.objectRef<FacetRow>('Facet').implement({
  description: 'A value in use.',
  fields: (t) => ({
    value: t.exposeString('value', { description: 'The value.' }),
    count: t.exposeInt('count', { description: 'How many nodes have it.' }),
  }),
})

export const COLUMNS = [
  'tags',
  'statuses',
  'oses',
  'arches',
  'deviceTypes',
  'models',
  'agentStates',
  'clusters',
  'regions',
  'datacenters',
] as const

export type ColumnFacets = Record<(typeof COLUMNS)[number], FacetRow[]>

type Facets = ColumnFacets & { groups: FacetRow[] }

export const NodeFacets = builder.objectRef<Facets>('NodeFacets').implement({
  description: 'Values that nodes have, with how many have each, for menus of filters.',
  fields: (t) => {
    const facet = (name: keyof Facets, description: string) =>
      t.field({ type: [Facet], description, resolve: (facets) => facets[name] })
    return {
      tags: facet('tags', 'Tags.'),
      statuses: facet('statuses', 'Statuses.'),
      oses: facet('oses', 'Ids of operating systems.'),
      arches: facet('arches', 'Machine architectures.'),
      deviceTypes: facet('deviceTypes', 'Kinds of accelerators, by their names in DeviceType.'),
      models: facet('models', 'Models of accelerators.'),
      groups: facet('groups', 'Names of groups.'),
      agentStates: facet('agentStates', 'States of agents.'),
      clusters: facet('clusters', 'Clusters, as agents call them.'),
      regions: facet('regions', 'Regions.'),
      datacenters: facet('datacenters', 'Data centres.'),
    }
  },
})

import { builder } from '../../../builder.ts'

export type FacetRow = { value: string; count: number }

const Facet = builder.objectRef<FacetRow>('Facet').implement({
  description: 'A value and the number of nodes that have it.',
  fields: (t) => ({
    value: t.exposeString('value', { description: 'Value.' }),
    count: t.exposeInt('count', { description: 'Number of nodes.' }),
  }),
})

export const COLUMNS = [
  'tags',
  'statuses',
  'healthStatuses',
  'oses',
  'arches',
  'deviceTypes',
  'models',
  'agentStates',
  'clusters',
  'regions',
  'datacenters',
  'racks',
] as const

export type ColumnFacets = Record<(typeof COLUMNS)[number], FacetRow[]>

/** Values per facet; more would not fit a menu. */
export const MAX_VALUES = 500

type Facets = ColumnFacets & { groups: FacetRow[] }

export const NodeFacets = builder.objectRef<Facets>('NodeFacets').implement({
  description: 'Values in use per attribute, most frequent first, for filter menus. At most 500 values per attribute.',
  fields: (t) => {
    const facet = (name: keyof Facets, description: string) =>
      t.field({ type: [Facet], description: `${description} At most ${MAX_VALUES}.`, resolve: (facets) => facets[name] })
    return {
      tags: facet('tags', 'Tags.'),
      statuses: facet('statuses', 'Statuses.'),
      healthStatuses: facet('healthStatuses', 'Statuses of the overall health: names of `NodeHealthStatus`.'),
      oses: facet('oses', 'IDs of operating systems.'),
      arches: facet('arches', 'Machine architectures.'),
      deviceTypes: facet('deviceTypes', 'Types of accelerators: names of `DeviceType`.'),
      models: facet('models', 'Accelerator models.'),
      groups: facet('groups', 'Group names.'),
      agentStates: facet('agentStates', 'Agent states.'),
      clusters: facet('clusters', 'Cluster names that agents report.'),
      regions: facet('regions', 'Regions.'),
      datacenters: facet('datacenters', 'Data centers.'),
      racks: facet('racks', 'Racks.'),
    }
  },
})

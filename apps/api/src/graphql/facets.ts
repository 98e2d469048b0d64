import type { Ctx } from '@muster/core/context'
import { schema, visibleTo } from '@muster/core/db'
import { type SQL, sql } from 'drizzle-orm'
import { builder } from '../builder.ts'

const { accelerators, computeNodes, nodeGroupMembers, nodeGroups } = schema

type FacetRow = { value: string; count: number }
const Facet = builder.objectRef<FacetRow>('Facet').implement({
  description: 'A value in use.',
  fields: (t) => ({
    value: t.exposeString('value', { description: 'The value.' }),
    count: t.exposeInt('count', { description: 'How many nodes have it.' }),
  }),
})

type Facets = Record<'tags' | 'statuses' | 'oses' | 'arches' | 'deviceTypes' | 'models' | 'groups', FacetRow[]>

const NodeFacets = builder.objectRef<Facets>('NodeFacets').implement({
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
    }
  },
})

builder.queryField('nodeFacets', (t) =>
  t.field({
    type: NodeFacets,
    description: 'Values that nodes have, with how many have each.',
    authScopes: { authenticated: true },
    complexity: 100,
    resolve: (_root, _args, { ctx }) => readFacets(ctx),
  }),
)

/** All facets in one statement. */
async function readFacets(ctx: Ctx): Promise<Facets> {
  const nodes = sql`${computeNodes} n where n.tenant_id = ${ctx.tenantId}`
  const counts = (facet: keyof Facets, value: SQL, from: SQL) =>
    sql`select ${facet}::text as facet, ${value} as value, count(*)::int as count from ${from} and ${value} is not null group by 2`
  const devices = sql`(select distinct node_id, device_type, model from ${accelerators} where ${visibleTo(ctx, accelerators)}) a where true`
  const { rows } = await ctx.db.execute<FacetRow & { facet: keyof Facets }>(sql`
    select * from (
      select 'tags' as facet, tag as value, count(*)::int as count from ${computeNodes} n, unnest(n.tags) as tag where n.tenant_id = ${ctx.tenantId} group by tag
      union all ${counts('statuses', sql`n.status`, nodes)}
      union all ${counts('oses', sql`n.os_id`, nodes)}
      union all ${counts('arches', sql`n.arch`, nodes)}
      union all select 'deviceTypes', upper(device_type), count(distinct node_id)::int from ${devices} group by 2
      union all select 'models', model, count(distinct node_id)::int from ${devices} and model is not null group by 2
      union all ${counts('groups', sql`g.name`, sql`${nodeGroupMembers} m join ${nodeGroups} g on g.id = m.group_id where g.tenant_id = ${ctx.tenantId}`)}
    ) facets order by count desc, value`)
  const facets: Facets = { tags: [], statuses: [], oses: [], arches: [], deviceTypes: [], models: [], groups: [] }
  for (const { facet, ...row } of rows) facets[facet].push(row)
  return facets
}

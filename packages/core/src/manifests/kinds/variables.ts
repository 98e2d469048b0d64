import { isDeepStrictEqual } from 'node:util'
import { and, eq } from 'drizzle-orm'
import { stringify } from 'yaml'
import { z } from 'zod'
import { nodeGroups } from '../../groups/tables.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { computeNodes } from '../../nodes/tables.ts'
import { parseVars, setVars } from '../../variables/index.ts'
import { variableScopes } from '../../variables/tables.ts'
import type { Kind, Scope, Spec, Stored } from './kind.ts'

const kind = {
  spec: z.strictObject({ vars: z.record(z.string(), z.json()).optional() }),
  maps: ['vars'],
}

async function read({ tx, ctx }: Scope, names: string[] | null): Promise<Stored[]> {
  const rows = await tx
    .select({
      ...{ id: variableScopes.id, vars: variableScopes.vars, version: variableScopes.version },
      ...{ group: nodeGroups.name, node: computeNodes.name },
    })
    .from(variableScopes)
    .leftJoin(nodeGroups, eq(nodeGroups.id, variableScopes.groupId))
    .leftJoin(computeNodes, eq(computeNodes.id, variableScopes.nodeId))
    .where(and(visibleTo(ctx, variableScopes)))
  const wanted = names && new Set(names)
  return rows.flatMap(({ id, vars, version, group, node }) => {
    const name = group ? `group:${group}` : node ? `node:${node}` : 'all'
    if (wanted && !wanted.has(name)) return []
    const isRetired = Object.keys(vars).length === 0
    return [{ id, name, version, spec: isRetired ? {} : { vars }, ...(isRetired ? { isRetired } : {}) }]
  })
}

/** YAML as users write it, where it reads back as the same values; else JSON. */
function textOf(vars: Spec): string {
  if (Object.keys(vars).length === 0) return ''
  const yaml = stringify(vars, { version: '1.1', lineWidth: 0 })
  try {
    if (isDeepStrictEqual(parseVars(yaml), vars)) return yaml
  } catch {}
  return `${JSON.stringify(vars, null, 2)}\n`
}

async function write({ ctx, lookup }: Scope, name: string, version: number, vars: unknown): Promise<string> {
  const [, what, of = ''] = /^(all|group|node):?(.*)$/.exec(name) ?? []
  const place =
    what === 'group'
      ? { groupId: await lookup.id('NodeGroup', of, 'metadata.name') }
      : what === 'node'
        ? { nodeId: await lookup.id('ComputeNode', of, 'metadata.name') }
        : {}
  return (await setVars(ctx, { ...place, text: textOf((vars ?? {}) as Spec), basedOn: version })).id
}

export const variables: Kind = {
  ...kind,
  kind: 'Variables',
  description:
    'Variables of all nodes (`all`), of a group (`group:NAME`) or of a node (`node:NAME`). Secret variables are not affected.',
  name: z
    .string()
    .regex(/^(all|(group|node):[A-Za-z0-9][A-Za-z0-9._-]{0,127}|group:_[A-Za-z0-9_]*)$/, 'must be all, group:NAME or node:NAME'),
  read,
  create: (scope, { name, spec }) => write(scope, name, 0, spec.vars),
  update: async (scope, { name, stored, spec }) => void (await write(scope, name, stored.version!, spec.vars)),
  // Scopes without variables stay for their history.
  restore: async () => {},
  remove: async (scope, { name, version }) => void (await write(scope, name, version!, {})),
}

import { isDeepStrictEqual } from 'node:util'
import type { SecretRefs, Vars } from './tables.ts'

export const VAR_CHANGES = ['ADDED', 'CHANGED', 'REMOVED'] as const
/** Change of one variable in a scope. Secrets have no values here. */
export type VarChange = { name: string; change: (typeof VAR_CHANGES)[number]; before: unknown; after: unknown; isSecret: boolean }
type VersionContent = { vars: Vars; secrets: SecretRefs }

/** Returns the differences between two versions of a scope, by name. Before the first version, nothing was set. */
export function changesBetween(before: VersionContent | undefined, after: VersionContent): VarChange[] {
  const [was, is] = [before ?? { vars: {}, secrets: {} }, after]
  const all = [was.vars, was.secrets, is.vars, is.secrets].flatMap((part) => Object.keys(part))
  return [...new Set(all)].sort().flatMap((name) => {
    const [had, has] = [was, is].map((version) => Object.hasOwn(version.vars, name) || Object.hasOwn(version.secrets, name))
    const isSame = was.secrets[name] === is.secrets[name] && isDeepStrictEqual(was.vars[name], is.vars[name])
    if (had && has && isSame) return []
    const isSecret = Object.hasOwn(has ? is.secrets : was.secrets, name)
    const change = !had ? 'ADDED' : has ? 'CHANGED' : 'REMOVED'
    return [{ name, change, before: was.vars[name] ?? null, after: is.vars[name] ?? null, isSecret }]
  })
}

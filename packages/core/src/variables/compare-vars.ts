import { isDeepStrictEqual } from 'node:util'
import type { Ctx } from '../kernel/context.ts'
import { NotFound } from '../kernel/errors.ts'
import { effectiveVars } from './effective-vars.ts'
import type { EffectiveVar, VarEntry } from './layer.ts'

/** One variable on two nodes; null where it is not set. */
export type VarComparison = { name: string; left: EffectiveVar | null; right: EffectiveVar | null; isSame: boolean }

/** Whether two entries have the same value, regardless of their layers. Secrets are equal when they are the same secret. */
export const isSameValue = (a: VarEntry | undefined, b: VarEntry | undefined): boolean =>
  a && b ? a.secretId === b.secretId && isDeepStrictEqual(a.value, b.value) : a === b

/** Compares the variables of two nodes by name. @throws NotFound */
export async function compareVars(ctx: Ctx, nodeIds: { left: string; right: string }): Promise<VarComparison[]> {
  const effective = await effectiveVars(ctx, [nodeIds.left, nodeIds.right])
  const [left, right] = [nodeIds.left, nodeIds.right].map((id) => {
    const vars = effective.get(id)
    if (!vars) throw new NotFound(`There is no node ${id}.`)
    return new Map(vars.map((each) => [each.name, each]))
  }) as [Map<string, EffectiveVar>, Map<string, EffectiveVar>]
  return [...new Set([...left.keys(), ...right.keys()])].sort().map((name) => ({
    name,
    left: left.get(name) ?? null,
    right: right.get(name) ?? null,
    isSame: isSameValue(left.get(name), right.get(name)),
  }))
}

import fc from 'fast-check'
import { expect } from 'vitest'
import { type EffectiveVar, effectiveVars, setVarMerge, VAR_MERGES, type VarEntry } from '../variables/index.ts'
import type { TestRuntime } from './runtime.ts'
import { type Expected, expectedVars, plantTrees, treeVars, variableTree } from './variable-trees.ts'

const AT_ONCE = 100

/** Read what holds on the nodes of random trees, a hundred in a tenant of their own, and hold it against the reference. */
export async function checkLayering(t: TestRuntime, hundreds: number): Promise<void> {
  const trees = fc.array(variableTree, { minLength: AT_ONCE, maxLength: AT_ONCE })
  const property = fc.asyncProperty(trees, treeVars, async (planted, everywhere) => {
    const { admin } = await t.given.tenant()
    const ids = await plantTrees(admin, planted, everywhere)
    for (const merge of VAR_MERGES) {
      await setVarMerge(admin, { merge })
      const effective = await effectiveVars(admin, ids)
      const told = ids.map((id) => Object.fromEntries(effective.get(id)!.map((each) => [each.name, asExpected(each)])))
      expect(told).toEqual(planted.map((tree, i) => expectedVars(tree, i, everywhere, merge === 'deep')))
    }
  })
  await fc.assert(property, { numRuns: hundreds, endOnFailure: true })
}

const from = ({ layer, group }: VarEntry) => group ?? layer
const asExpected = ({ value, overridden, ...nearest }: EffectiveVar): Expected => ({
  value,
  from: from({ value, ...nearest }),
  overridden: overridden.map((entry) => [entry.value, from(entry)]),
})

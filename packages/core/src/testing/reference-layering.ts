import fc from 'fast-check'
import { expect } from 'vitest'
import { VAR_MERGES } from '../access/index.ts'
import { type EffectiveVar, effectiveVars, setVarMerge, type VarEntry } from '../variables/index.ts'
import type { TestRuntime } from './runtime.ts'
import { type Expected, expectedVars, insertTrees, treeVars, variableTree } from './variable-trees.ts'

const TREES_PER_TENANT = 100

/** Compares the effective variables of nodes in random group trees, 100 per tenant, with the reference implementation. */
export async function referenceLayering(t: TestRuntime, hundreds: number): Promise<void> {
  const trees = fc.array(variableTree, { minLength: TREES_PER_TENANT, maxLength: TREES_PER_TENANT })
  const property = fc.asyncProperty(trees, treeVars, async (generated, globalVars) => {
    const { admin } = await t.given.tenant()
    const ids = await insertTrees(admin, generated, globalVars)
    for (const merge of VAR_MERGES) {
      await setVarMerge(admin, { merge })
      const effective = await effectiveVars(admin, ids)
      const actual = ids.map((id) => Object.fromEntries(effective.get(id)!.map((each) => [each.name, asExpected(each)])))
      expect(actual).toEqual(generated.map((tree, i) => expectedVars(tree, i, globalVars, merge === 'deep')))
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

import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { VAR_MERGES } from '@muster/core/access'
import { testRuntime } from '@muster/core/testing'
import { expectedVars, insertTrees, treeNode, treeVars, variableTree } from '@muster/core/testing/variable-trees'
import { setVarMerge, varsOfNodes } from '@muster/core/variables'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { realAnsible } from '../../testing/run-fixture.ts'
import { inventory } from '../run-directory/run-files.ts'

const TREES = 100

/** Converts `!unsafe` values of the output to plain text. @throws Error for text that Ansible would evaluate */
const asText = (value: unknown): unknown => {
  if (typeof value === 'string' && /[{#]/.test(value)) throw new Error(`${value} would be evaluated`)
  if (Array.isArray(value)) return value.map(asText)
  if (typeof value !== 'object' || value === null) return value
  if ('__ansible_unsafe' in value) return value.__ansible_unsafe
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, asText(inner)]))
}

/** Output of `ansible-inventory --list` for an inventory. */
async function listed(text: string) {
  const dir = await mkdtemp(join(tmpdir(), 'muster-inventory-'))
  try {
    await writeFile(join(dir, 'inventory.yml'), text)
    const program = join(dirname(realAnsible()), 'ansible-inventory')
    const args = ['--list', '-i', join(dir, 'inventory.yml'), '--output', join(dir, 'out.json'), '--export']
    const env = {
      PATH: process.env.PATH,
      HOME: dir,
      LANG: 'C.UTF-8',
      ANSIBLE_INVENTORY_ENABLED: 'yaml',
      ANSIBLE_INVENTORY_ANY_UNPARSED_IS_FAILED: '1',
    }
    await promisify(execFile)(program, args, { env })
    return JSON.parse(await readFile(join(dir, 'out.json'), 'utf8'))
  } finally {
    await rm(dir, { recursive: true })
  }
}

test('Ansible reads the values and group members of the reference from the rendered inventory', async () => {
  const t = await testRuntime()
  const { admin } = await t.given.tenant()
  const [trees] = fc.sample(fc.array(variableTree, { minLength: TREES, maxLength: TREES }), 1)
  const [everywhere] = fc.sample(treeVars, 1)
  const ids = await insertTrees(admin, trees!, everywhere!)
  for (const merge of VAR_MERGES) {
    await setVarMerge(admin, { merge })
    const nodes = await varsOfNodes(admin, ids)
    const become = { method: 'sudo' as const, user: 'root', password: null }
    const targets = ids.map((id, i) => ({
      name: treeNode(i),
      nodeId: id,
      machine: null,
      become,
      python: null,
      facts: {},
      ...nodes.get(id)!,
    }))
    const shown = await listed(inventory(targets, new Set(), () => []))
    for (const [i, tree] of trees!.entries()) {
      const expected = expectedVars(tree, i, everywhere!, merge === 'deep')
      const values = Object.fromEntries(Object.entries(expected).map(([name, each]) => [name, each.value]))
      expect(asText(shown._meta.hostvars[treeNode(i)] ?? {})).toEqual(values)
      for (const group of nodes.get(ids[i]!)!.groups) expect(shown[group].hosts).toEqual([treeNode(i)])
    }
  }
  await t.close()
})

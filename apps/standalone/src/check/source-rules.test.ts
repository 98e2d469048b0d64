import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { root } from '../root.ts'
import { findApiWrites, findCrowdedFolders, MAX_FILES_PER_FOLDER } from './source-rules.ts'

let tree: string
beforeEach(() => {
  tree = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-rules-'))
})
afterEach(() => fs.rmSync(tree, { recursive: true, force: true }))

function write(file: string, text = ''): void {
  fs.mkdirSync(path.dirname(path.join(tree, file)), { recursive: true })
  fs.writeFileSync(path.join(tree, file), text)
}

test('finds folders with too many source files, not counting tests and subfolders', () => {
  for (let i = 0; i < MAX_FILES_PER_FOLDER; i++) write(`packages/a/src/jobs/f${i}.ts`)
  write('packages/a/src/jobs/f0.test.ts')
  write('packages/a/src/jobs/query/f.ts')
  expect(findCrowdedFolders(tree)).toEqual([])
  write('packages/a/src/jobs/one-more.tsx')
  expect(findCrowdedFolders(tree)).toEqual(['packages/a/src/jobs: 31 files'])
})

test('finds database writes in the API, not in comments and tests', () => {
  write('apps/api/src/read.ts', 'await ctx.db.select()\n// db.insert(x)\n/* tx.delete(x) */')
  write('apps/api/src/seed.test.ts', 'await db.insert(x)')
  write('apps/api/src/write.ts', 'await ctx.db\n  .update(nodes)')
  expect(findApiWrites(tree)).toEqual(['apps/api/src/write.ts'])
})

test('the API does not write to the database itself', () => {
  expect(findApiWrites(root)).toEqual([])
})

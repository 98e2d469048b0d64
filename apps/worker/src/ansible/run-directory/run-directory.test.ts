import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '@muster/core/log'
import { expect, it, onTestFinished } from 'vitest'
import { noIsolation } from '../isolation/isolation.ts'
import { removeAbandonedRuns } from './run-directory.ts'

it('removes the directory of a worker that was killed while it wrote its owner, once nobody can use it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'muster-directory-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  for (const name of ['run-new', 'run-old']) {
    await mkdir(join(folder, name))
    await writeFile(join(folder, name, 'owner.json'), '{"host":')
  }
  const old = new Date(Date.now() - 30 * 86_400_000)
  await utimes(join(folder, 'run-old'), old, old)
  await removeAbandonedRuns(folder, createLog('test', 'silent'), noIsolation(null))
  expect(await readdir(folder)).toEqual(['run-new'])
})

import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { assertConfined, confined } from './confine.ts'

let outer: string
let root: string
beforeEach(async () => {
  outer = await mkdtemp(join(tmpdir(), 'muster-confine-'))
  root = join(outer, 'root')
  await mkdir(join(root, 'plays'), { recursive: true })
  await writeFile(join(outer, 'secret.yml'), 'outside')
  await writeFile(join(root, 'plays/site.yml'), 'inside')
})
afterEach(() => rm(outer, { recursive: true, force: true }))

test('resolves a file through links inside the root', async () => {
  await symlink('plays', join(root, 'current'))
  await symlink('/nowhere', join(root, 'unused'))
  expect(await confined(root, 'current/site.yml')).toBe(await confined(root, 'plays/site.yml'))
})

test.each<[string, string, RegExp]>([
  ['../secret.yml', '', /must not contain \.\./],
  ['/etc/passwd', '', /relative/],
  ['plays/./site.yml', '', /empty parts/],
  ['plays', '', /could not be found/],
  ['missing.yml', '', /could not be found in its folder: put it there/],
  ['link.yml', '../secret.yml', /leads out/],
  ['link.yml', '/etc/passwd', /leads out/],
  ['link/secret.yml', '..', /leads out/],
  ['link/root/plays/../../secret.yml', '..', /must not contain \.\./],
])('rejects %s with the link target %j', async (path, target, message) => {
  if (target) await symlink(target, join(root, path.split('/')[0]!))
  await expect(confined(root, path)).rejects.toThrow(message)
})

test('accepts links inside the tree and rejects external and broken links', async () => {
  await symlink('plays/site.yml', join(root, 'inside.yml'))
  await symlink('..', join(root, 'plays/up'))
  await assertConfined(root)
  for (const target of ['../secret.yml', '../../../../etc', '/etc/passwd', 'nowhere']) {
    await symlink(target, join(root, 'plays/out'))
    await expect(assertConfined(root)).rejects.toThrow(/"plays\/out" is a link that leads out/)
    await rm(join(root, 'plays/out'))
  }
})

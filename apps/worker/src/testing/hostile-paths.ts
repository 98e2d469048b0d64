import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpackBundle } from '@muster/core/jobs'
import { type ArchiveEntry, tarGz, zip } from '@muster/core/testing'
import { confined } from '../ansible/source/confine.ts'
import { writeFiles } from '../ansible/source/materialise.ts'
import { dice } from './dice.ts'

const CANARY = 'nobody reads or writes this'
const PARTS = [
  '..',
  '.',
  '',
  'a',
  'b',
  'site.yml',
  '...',
  '..\\',
  'C:',
  '~',
  '%2e%2e',
  '..;',
  '\u2025',
  '．．',
  'link',
  ' ..',
  '.. ',
  '\0',
  'secret.yml',
  'link/secret.yml',
  'a/site.yml',
]
const STARTS = ['', '', '', '/', '//', './', '../', 'a/../', 'link/', '\\\\host\\', 'file:///', 'C:\\']

function hostilePath(roll: (n: number) => number): string {
  const pick = <T>(from: T[]) => from[roll(from.length)]!
  const up = roll(3) === 0 ? '../'.repeat(1 + roll(8)) : ''
  return pick(STARTS) + up + Array.from({ length: 1 + roll(5) }, () => pick(PARTS)).join(roll(8) === 0 ? '\\' : '/')
}

/**
 * Unpack `count` hostile archives and ask for `count` hostile playbooks below a root with links of its own.
 * @returns how often something outside was read or written, and how often a path was taken
 */
export async function tryHostilePaths(count: number, seed = 1): Promise<{ outside: number; taken: number }> {
  const roll = dice(seed)
  // So deep that no way up leads out of `top` unseen.
  const top = await mkdtemp(join(tmpdir(), 'muster-hostile-'))
  const outer = join(top, 'd/'.repeat(16))
  const result = { outside: 0, taken: 0 }
  const fixed = join(outer, 'fixed')
  await mkdir(join(fixed, 'a/b'), { recursive: true })
  await writeFile(join(outer, 'secret.yml'), CANARY)
  await writeFile(join(fixed, 'a/site.yml'), 'inside')
  await symlink('..', join(fixed, 'link'))
  const all = async () => (await readdir(top, { recursive: true })).sort().join()
  const before = await all()
  try {
    for (let i = 0; i < count; i++) {
      const path = hostilePath(roll)
      const real = await confined(fixed, path).catch(() => null)
      if (real) result.taken++
      if (real && (await readFile(real, 'utf8')) !== 'inside') result.outside++

      const link: ArchiveEntry = { path: 'link', type: 'SymbolicLink', target: '..' }
      const file: ArchiveEntry = { path, text: 'hostile' }
      const entries = roll(4) === 0 ? [link, file] : [file]
      const files = await unpackBundle(roll(2) === 0 ? tarGz(entries) : zip(entries)).catch(() => null)
      if (!files) continue
      result.taken++
      const root = join(outer, 'project')
      await writeFiles(root, files).catch(() => {})
      await rm(root, { recursive: true, force: true })
      if ((await readdir(outer)).join() !== 'fixed,secret.yml' || (await readFile(join(outer, 'secret.yml'), 'utf8')) !== CANARY)
        result.outside++
    }
    if ((await all()) !== before) result.outside++
  } finally {
    await rm(top, { recursive: true, force: true })
  }
  return result
}

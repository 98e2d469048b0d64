import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unpackBundle } from '@muster/core/templates'
import { type ArchiveEntry, tarGz, zip } from '@muster/core/testing'
import { confined } from '../../ansible/source/confine.ts'
import { writeFiles } from '../../ansible/source/materialize.ts'
import { seededRandom } from '../seeded-random.ts'

const CANARY = 'must not be read or written'
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

function maliciousPath(roll: (n: number) => number): string {
  const pick = <T>(from: T[]) => from[roll(from.length)]!
  const up = roll(3) === 0 ? '../'.repeat(1 + roll(8)) : ''
  return pick(STARTS) + up + Array.from({ length: 1 + roll(5) }, () => pick(PARTS)).join(roll(8) === 0 ? '\\' : '/')
}

/**
 * Unpacks `count` malicious archives and resolves `count` malicious playbook paths below a root that contains links.
 * @returns how often something outside was accessed, and how often a path was accepted
 */
export async function tryMaliciousPaths(count: number, seed = 1): Promise<{ outside: number; accepted: number }> {
  const roll = seededRandom(seed)
  // Deep enough that no path of `..` leaves `top`.
  const top = await mkdtemp(join(tmpdir(), 'muster-hostile-'))
  const outer = join(top, 'd/'.repeat(16))
  const result = { outside: 0, accepted: 0 }
  const fixed = join(outer, 'fixed')
  await mkdir(join(fixed, 'a/b'), { recursive: true })
  await writeFile(join(outer, 'secret.yml'), CANARY)
  await writeFile(join(fixed, 'a/site.yml'), 'inside')
  await symlink('..', join(fixed, 'link'))
  const all = async () => (await readdir(top, { recursive: true })).sort().join()
  const before = await all()
  try {
    for (let i = 0; i < count; i++) {
      const path = maliciousPath(roll)
      const real = await confined(fixed, path).catch(() => null)
      if (real) result.accepted++
      if (real && (await readFile(real, 'utf8')) !== 'inside') result.outside++

      const link: ArchiveEntry = { path: 'link', type: 'SymbolicLink', target: '..' }
      const file: ArchiveEntry = { path, text: 'hostile' }
      const entries = roll(4) === 0 ? [link, file] : [file]
      const files = await unpackBundle(roll(2) === 0 ? tarGz(entries) : zip(entries)).catch(() => null)
      if (!files) continue
      result.accepted++
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

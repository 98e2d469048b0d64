import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { type ArchiveEntry, tarGz, zip } from '../../testing/archives.ts'
import { BUNDLE_LIMITS, unpackBundle } from './unpack-bundle.ts'

const SITE: ArchiveEntry[] = [
  { path: './site.yml', text: '- hosts: all\n' },
  { path: 'roles/web/tasks/main.yml', text: '[]\n' },
  { path: 'files/run.sh', text: '#!/bin/sh\n', mode: 0o755 },
]

test.each([
  ['tar.gz', tarGz],
  ['zip', zip],
] as const)('the files of a %s, with their content', async (_, pack) => {
  const files = await unpackBundle(pack(SITE))
  expect(files.map(({ path, bytes, isExecutable }) => [path, bytes.toString(), isExecutable])).toEqual([
    ['files/run.sh', '#!/bin/sh\n', true],
    ['roles/web/tasks/main.yml', '[]\n', false],
    ['site.yml', '- hosts: all\n', false],
  ])
})

test('folder entries are optional', async () => {
  const entries: ArchiveEntry[] = [{ path: './', type: 'Directory' }, { path: 'roles/', type: 'Directory' }, ...SITE]
  expect(await unpackBundle(tarGz(entries))).toHaveLength(3)
})

const LONG = 'x/'.repeat(100)
test.each<[ArchiveEntry[], RegExp]>([
  [[{ path: '../up.yml' }], /must not contain \.\./],
  [[{ path: 'a/../../up.yml' }], /must not contain \.\./],
  [[{ path: '/etc/passwd' }], /relative/],
  [[{ path: `${LONG}y.yml` }], /deeper than/],
  [[{ path: 'a\\..\\b.yml' }], /backslash/],
  [[{ path: 'link', type: 'SymbolicLink', target: 'site.yml' }], /link or a device/],
  [[{ path: 'a' }, { path: 'a' }], /twice/],
  [[{ path: 'a' }, { path: 'a/b' }], /both as a file and as a folder/],
  [[{ path: 'a/b' }, { path: 'a' }], /twice/],
  [[], /holds no files|neither/],
])('%j is rejected', async (entries, message) => {
  await expect(unpackBundle(tarGz(entries))).rejects.toMatchObject({
    issues: [{ path: 'content', message: expect.stringMatching(entries.length === 0 ? /no files|is no tar/ : message) }],
  })
  // The zip library has its own messages for some of these.
  await expect(unpackBundle(zip(entries))).rejects.toMatchObject({ issues: [{ path: 'content' }] })
})

test.each(['Link', 'CharacterDevice'] as const)('rejects a %s in a tar', async (type) => {
  await expect(unpackBundle(tarGz([{ path: 'x', type, target: type === 'Link' ? '/etc/passwd' : '' }]))).rejects.toThrow(
    /link or a device/,
  )
})

test('rejects archives that are too large or have too many files', async () => {
  const zeros = '\0'.repeat(1024 * 1024)
  const huge = Array.from({ length: 51 }, (_, i) => ({ path: `f${i}`, text: zeros }))
  await expect(unpackBundle(tarGz(huge))).rejects.toThrow(/larger than 50 MiB/)
  const many = Array.from({ length: BUNDLE_LIMITS.files + 1 }, (_, i) => ({ path: `f${i}` }))
  await expect(unpackBundle(tarGz(many))).rejects.toThrow(/more than 2000/)
  await expect(unpackBundle(zip(many))).rejects.toThrow(/more than 2000/)
  await expect(unpackBundle(Buffer.alloc(BUNDLE_LIMITS.archive + 1))).rejects.toThrow(/more than 10 MiB/)
  await expect(unpackBundle(gzipSync(Buffer.alloc(80 * 1024 * 1024)))).rejects.toThrow(/larger than/)
})

test('rejects broken archives', async () => {
  await expect(unpackBundle(Buffer.from('- hosts: all'))).rejects.toThrow(/neither/)
  await expect(unpackBundle(gzipSync(tarGz(SITE)))).rejects.toThrow(/no tar/)
  await expect(unpackBundle(tarGz(SITE).subarray(0, 100))).rejects.toThrow(/does not unzip/)
  await expect(unpackBundle(zip(SITE).subarray(0, 100))).rejects.toThrow(/broken zip/)
})

import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { runChecked } from './commands.ts'
import { type FileSpec, writeFiles } from './files.ts'

/** A package to build: the fields of its control file, what it installs, and its maintainer scripts. */
export interface StubPackage {
  name: string
  version: string
  /** Default `all`. */
  architecture?: string
  /** Further control fields, such as `Depends` or `Conflicts`. */
  fields?: Record<string, string>
  files?: FileSpec[]
  scripts?: Partial<Record<'preinst' | 'postinst' | 'prerm' | 'postrm', string>>
}

/** Builds NAME_VERSION_ARCHITECTURE.deb in `folder` with dpkg-deb and returns its path. */
export async function buildDeb(folder: string, stub: StubPackage): Promise<string> {
  const { name, version, architecture = 'all', fields = {}, files = [], scripts = {} } = stub
  const tree = mkdtempSync(path.join(tmpdir(), 'muster-deb-'))
  try {
    const control = { Package: name, Version: version, Architecture: architecture, ...fields }
    const lines = Object.entries({ ...control, Maintainer: 'Lab <lab@example.org>', Description: 'a stub for the lab' })
    writeFiles(tree, [
      ...files,
      { path: '/DEBIAN/control', content: lines.map(([field, value]) => `${field}: ${value}\n`).join('') },
      ...Object.entries(scripts).map(([script, body]) => ({
        path: `/DEBIAN/${script}`,
        content: `#!/bin/sh\n${body}\n`,
        mode: 0o755,
      })),
    ])
    mkdirSync(folder, { recursive: true })
    const deb = path.join(folder, `${name}_${version}_${architecture}.deb`)
    await runChecked(['dpkg-deb', '--root-owner-group', '-Znone', '--build', tree, deb])
    return deb
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}

/** Path of a distribution package downloaded by apt into `cache`; null when apt or a mirror is unavailable. */
export function downloadDeb(name: string, cache: string): string | null {
  const find = () => globSync(`${name}_*.deb`, { cwd: cache }).map((file) => path.join(cache, file))[0] ?? null
  mkdirSync(cache, { recursive: true })
  try {
    if (!find()) execFileSync('apt-get', ['download', name], { cwd: cache, stdio: 'ignore' })
  } catch {
    return null
  }
  return find()
}

/** A key that signs repositories. */
export interface SigningKey {
  publicKey: { armored: string; binary: Buffer }
  /** Returns a clear-text signature, the format of InRelease. */
  sign(text: string): Promise<string>
  remove(): Promise<void>
}

export async function newSigningKey(): Promise<SigningKey> {
  const home = mkdtempSync(path.join(tmpdir(), 'muster-gpg-'))
  const gpg = (...args: string[]) => ['gpg', '--homedir', home, '--batch', '--quiet', ...args]
  await runChecked(gpg('--passphrase', '', '--quick-gen-key', 'Lab <lab@example.org>', 'ed25519', 'sign', 'never'))
  const binary = path.join(home, 'public.gpg')
  await runChecked(gpg('--output', binary, '--export'))
  return {
    publicKey: { armored: await runChecked(gpg('--armor', '--export')), binary: readFileSync(binary) },
    sign: (text) => runChecked(gpg('--clearsign'), text),
    remove: async () => {
      await runChecked(['gpgconf', '--homedir', home, '--kill', 'all'])
      rmSync(home, { recursive: true, force: true })
    },
  }
}

/**
 * Writes the index of a signed apt repository: flat (suite "/", `debs` is a list), or under dists/ with the packages of each
 * component. `at` is the repository's folder below `root`, which also contains the packages. May be called again after packages
 * have changed.
 */
export async function writeAptIndex(
  root: string,
  {
    at = '',
    suite = '/',
    origin = 'Lab',
    debs,
  }: { at?: string; suite?: string; origin?: string; debs: string[] | Record<string, string[]> },
  key: SigningKey,
): Promise<void> {
  const base = path.join(root, at)
  const architecture = (await runChecked(['dpkg', '--print-architecture'])).trim()
  const packagesOf = async (files: string[]) => {
    const stanzas = await Promise.all(
      files.map(async (deb) => {
        const control = (await runChecked(['dpkg-deb', '--field', deb])).trim()
        const file = `Filename: ${path.relative(base, deb)}\nSize: ${statSync(deb).size}\nSHA256: ${sha256(readFileSync(deb))}`
        return `${control}\n${file}\n`
      }),
    )
    return stanzas.join('\n')
  }
  const top = Array.isArray(debs) ? base : path.join(base, 'dists', suite)
  const indexes = Array.isArray(debs)
    ? [{ file: 'Packages', content: await packagesOf(debs) }]
    : await Promise.all(
        Object.entries(debs).map(async ([component, files]) => ({
          file: `${component}/binary-${architecture}/Packages`,
          content: await packagesOf(files),
        })),
      )
  for (const { file, content } of indexes) {
    mkdirSync(path.dirname(path.join(top, file)), { recursive: true })
    writeFileSync(path.join(top, file), content)
  }
  const release = [
    `Origin: ${origin}`,
    `Suite: ${suite}`,
    `Codename: ${suite}`,
    `Architectures: ${architecture} all`,
    ...(Array.isArray(debs) ? [] : [`Components: ${Object.keys(debs).join(' ')}`]),
    `Date: ${new Date().toUTCString()}`,
    `SHA256:\n${indexes.map(({ file, content }) => ` ${sha256(content)} ${Buffer.byteLength(content)} ${file}\n`).join('')}`,
  ]
  writeFileSync(path.join(top, 'InRelease'), await key.sign(release.join('\n')))
}

const sha256 = (content: string | Buffer) => createHash('sha256').update(content).digest('hex')

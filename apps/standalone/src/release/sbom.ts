import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { root } from '../root.ts'

export type Component = { type: string; name: string; version: string; purl: string; 'bom-ref': string; licenses?: License[] }
type License = { license?: { id?: string; name?: string }; expression?: string }
type Dependency = { ref: string; dependsOn: string[] }
export type Sbom = {
  serialNumber?: string
  metadata: { timestamp?: string }
  components: Component[]
  dependencies: Dependency[]
}

/**
 * The SBOM (CycloneDX 1.6) of all lockfiles: npm packages from `pnpm sbom`, Node and pnpm, and the Python packages of playbooks. The
 * same lockfiles give the same bytes: without time and serial number, and sorted.
 * @param pythonDir Python environment with the installed packages, which contain their licenses
 */
export async function createSbom(pythonDir: string): Promise<Sbom> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--sbom-spec-version', '1.6', '--sbom-type', 'application']
  const { stdout } = await promisify(execFile)('pnpm', args, { cwd: root, maxBuffer: 64 << 20 })
  const sbom = JSON.parse(stdout) as Sbom
  delete sbom.serialNumber
  delete sbom.metadata.timestamp
  const requirements = fs.readFileSync(path.join(root, 'playbooks/requirements.txt'), 'utf8')
  sbom.components.push(...pythonComponents(requirements, pythonDir), ...toolchainComponents())
  const order = (a: string, b: string) => (a < b ? -1 : Number(a > b))
  sbom.components.sort((a, b) => order(a['bom-ref'], b['bom-ref']))
  sbom.dependencies = mergeDependencies(sbom.dependencies)
  return sbom
}

const WORKSPACE = /^pkg:npm\/(%40muster\/|muster@)/

/** Sorted, and without the edges of workspace packages, because pnpm lists different ones each time. */
function mergeDependencies(dependencies: Dependency[]): Dependency[] {
  const byRef = new Map<string, Set<string>>()
  for (const { ref, dependsOn } of dependencies)
    if (!WORKSPACE.test(ref)) byRef.set(ref, new Set([...(byRef.get(ref) ?? []), ...dependsOn]))
  return [...byRef.keys()].sort().map((ref) => ({ ref, dependsOn: [...byRef.get(ref)!].sort() }))
}

/** Node and pnpm of each platform, from the lockfile of npm (version 3). */
function toolchainComponents(): Component[] {
  const lockfile = JSON.parse(fs.readFileSync(path.join(root, 'bin/toolchain/package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; license: string }>
  }
  return Object.entries(lockfile.packages).flatMap(([folder, { version, license }]) => {
    const name = folder.split('node_modules/').at(-1)
    const purl = `pkg:npm/${name?.replace('@', '%40')}@${version}`
    return name ? [{ type: 'library', name, version, purl, 'bom-ref': purl, licenses: [{ license: { id: license } }] }] : []
  })
}

/** Components of a requirements file with pinned versions. */
export function pythonComponents(requirements: string, pythonDir: string): Component[] {
  const metadata = fs
    .globSync('lib/python*/site-packages/*.dist-info/METADATA', { cwd: pythonDir })
    .map((file) => fs.readFileSync(path.join(pythonDir, file), 'utf8').split('\n\n')[0]!)
  const normalize = (name: string) => name.toLowerCase().replaceAll(/[-_.]+/g, '-')
  return [...requirements.matchAll(/^([\w.-]+)==([\w.]+)/gm)].map(([, name, version]) => {
    const found = metadata.find((text) => normalize(/^Name: (.*)$/m.exec(text)?.[1] ?? '') === normalize(name!))
    const license = found && licenseOf(found)
    const purl = `pkg:pypi/${normalize(name!)}@${version}`
    const licenses = license ? [{ license: { name: license } }] : undefined
    return { type: 'library', name: name!, version: version!, purl, 'bom-ref': purl, ...(licenses ? { licenses } : {}) }
  })
}

/** The license in a package's METADATA: an SPDX expression, a classifier, or free text. */
function licenseOf(metadata: string): string | undefined {
  const field = (name: string) => new RegExp(`^${name}: (.+)$`, 'm').exec(metadata)?.[1]?.trim()
  return field('License-Expression') ?? /^Classifier: License :: OSI Approved :: (.+)$/m.exec(metadata)?.[1] ?? field('License')
}

/** Licenses of a component as text; null when it states none. */
export function licenseText({ licenses }: Component): string | null {
  const texts = licenses?.map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? '').filter(Boolean) ?? []
  return texts.length ? texts.join(' AND ') : null
}

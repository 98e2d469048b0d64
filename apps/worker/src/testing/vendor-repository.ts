import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { buildDeb, type Lab, newSigningKey, type StubPackage, serveFolder, writeAptIndex } from '@muster/lab'
import {
  amdPackages,
  ascendFiles,
  debianContribPackages,
  debianPackages,
  intelPackages,
  nvidiaPackages,
  oneapiPackages,
} from './vendor-packages.ts'

const ascendArch = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
const nvidiaArch = process.arch === 'arm64' ? 'sbsa' : 'x86_64'

/** Mirrors of the vendors' and Debian's repositories with their layout, signed by a test key and served to the lab's nodes. */
export async function vendorRepository(lab: Lab, nodeExporter: string | null) {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-repository-'))
  const key = await newSigningKey()
  const build = (at: string, stubs: StubPackage[]) =>
    Promise.all(stubs.map((stub) => buildDeb(path.join(folder, at, 'pool'), stub)))
  const put = (file: string, content: string | Buffer) => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), content)
  }
  const take = (at: string, deb: string) => {
    put(`${at}/pool/${path.basename(deb)}`, readFileSync(deb))
    return path.join(folder, at, 'pool', path.basename(deb))
  }
  const nvidia = ['debian12', 'ubuntu2204'].map(async (system) => {
    const at = `nvidia/${system}/${nvidiaArch}`
    await writeAptIndex(folder, { at, debs: await build(at, nvidiaPackages) }, key)
    put(`${at}/cuda-archive-keyring.gpg`, key.publicKey.binary)
  })
  const withSuite = async (at: string, suite: string, component: string, stubs: StubPackage[]) =>
    writeAptIndex(folder, { at, suite, debs: { [component]: await build(at, stubs) } }, key)
  const debian = async () => {
    const debs = { main: await build('debian', debianPackages), contrib: await build('debian', debianContribPackages) }
    await writeAptIndex(folder, { at: 'debian', suite: 'bookworm', origin: 'Debian', debs }, key)
  }
  await Promise.all([
    ...nvidia,
    debian(),
    withSuite('amd/amdgpu/6.4.3/ubuntu', 'jammy', 'main', amdPackages.slice(0, 2)),
    withSuite('amd/rocm/apt/6.4.3', 'jammy', 'main', amdPackages.slice(2)),
    withSuite('intel/gpu/ubuntu', 'jammy/lts/2350', 'unified', intelPackages),
    withSuite('oneapi', 'all', 'main', oneapiPackages),
    writeAptIndex(folder, { at: 'node', debs: nodeExporter ? [take('node', nodeExporter)] : [] }, key),
  ])
  put('amd/rocm/rocm.gpg.key', key.publicKey.armored)
  put('intel/gpu/intel-graphics.key', key.publicKey.armored)
  put('node/repository.asc', key.publicKey.armored)
  for (const [name, content] of Object.entries(ascendFiles(ascendArch))) put(`ascend/${name}`, content)
  const server = await serveFolder(folder, lab.hostAddress)
  return {
    folder,
    /** The public key that signs all repositories. */
    key: key.publicKey.armored,
    ...server,
    close: async () => {
      await Promise.all([server.close(), key.remove()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

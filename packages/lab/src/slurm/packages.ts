import { cpSync, existsSync, globSync, lstatSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { newSigningKey, writeAptIndex } from '../apt-repository.ts'
import type { FileSpec } from '../files.ts'
import { serveFolder } from '../serve-folder.ts'
import type { Lab } from '../types.ts'

/** Debian's packages of Slurm and munge, downloaded by bin/setup/slurm.mjs. */
const slurmPackages = fileURLToPath(new URL('../../../../.tool/slurm-packages', import.meta.url))

const PACKAGES = /^(slurm(ctld|d|dbd)|slurm-client|slurm-wlm-(basic|mysql)-plugins?|munge)$/
/** Links that the packages' scripts create. */
const ALTERNATIVES = ['slurmd', 'slurmctld', 'slurmstepd'].map((name) => `/usr/sbin/${name}`)
const DPKG = '/var/lib/dpkg'

/** What makes a node a machine on which Slurm is not installed, although this one may have it. */
export function withoutSlurmPackages(): { hidden: string[]; files: FileSpec[] } {
  const status = existsSync(`${DPKG}/status`) ? readFileSync(`${DPKG}/status`, 'utf8') : ''
  const stanzas = status.split('\n\n')
  const nameOf = (stanza: string) => /^Package: (\S+)/m.exec(stanza)?.[1] ?? ''
  const installed = stanzas.map(nameOf).filter((name) => PACKAGES.test(name))
  if (installed.length === 0) return { hidden: [], files: [] }
  const lists = installed.flatMap((name) => globSync(`${DPKG}/info/${name}.*`))
  const contents = lists.filter((file) => file.endsWith('.list')).flatMap((file) => readFileSync(file, 'utf8').split('\n'))
  // Debian merges these folders into /usr.
  const merged = contents
    .map((file) => file.replace(/^\/(bin|sbin|lib)\//, '/usr/$1/'))
    .filter((file) => file.startsWith('/usr/'))
  const hidden = [...merged, ...ALTERNATIVES].filter((file) => isFile(file))
  const rest = stanzas.filter((stanza) => !PACKAGES.test(nameOf(stanza))).join('\n\n')
  return { hidden: [...hidden, ...lists], files: [{ path: `${DPKG}/status`, content: rest }] }
}

function isFile(file: string): boolean {
  const found = lstatSync(file, { throwIfNoEntry: false })
  return found !== undefined && !found.isDirectory()
}

/** `url` of a signed apt repository; its key is `repository.asc` there. */
export interface SlurmRepository {
  url: string
  close(): Promise<void>
}

/** Serves Debian's packages of Slurm to the nodes of a lab. Requires `canRunSlurm()`. */
export async function serveSlurmPackages(lab: Pick<Lab, 'hostAddress'>): Promise<SlurmRepository> {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-slurm-packages-'))
  const key = await newSigningKey()
  cpSync(slurmPackages, folder, { recursive: true })
  await writeAptIndex(folder, { debs: globSync(`${folder}/*.deb`) }, key)
  writeFileSync(path.join(folder, 'repository.asc'), key.publicKey.armored)
  const server = await serveFolder(folder, lab.hostAddress!)
  return {
    url: server.url,
    async close() {
      await Promise.all([server.close(), key.remove()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

import { existsSync, lstatSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FileSpec } from '../files.ts'

/** Debian's Slurm, unpacked by bin/setup/slurm.mjs. */
export const slurmPrograms = fileURLToPath(new URL('../../../../.tool/slurm', import.meta.url))

/** Where nodes see that folder. */
export const PROGRAMS_IN_NODE = '/usr/lib/lab/slurm'

/** Whether labs of this process can have a Slurm cluster. */
export function canRunSlurm(): boolean {
  return (
    process.platform === 'linux' && process.getuid?.() === 0 && existsSync(path.join(slurmPrograms, 'usr/sbin/slurmctld-wlm'))
  )
}

/** Throws with the next step when Slurm is not available. */
export function requireSlurm(): void {
  if (!canRunSlurm())
    throw new Error('A lab with Slurm requires root on Debian or Ubuntu. `npm run lab -- up --slurm` unpacks the programs.')
}

const USED = ['bin', 'usr/bin', 'usr/sbin', 'usr/lib', 'usr/share/mysql']
/** Names that Debian's packages create when they are installed. */
const ALTERNATIVES = [
  ['/usr/sbin/slurmctld', 'slurmctld-wlm'],
  ['/usr/sbin/slurmd', 'slurmd-wlm'],
  ['/usr/sbin/slurmstepd', 'slurmstepd-wlm'],
  ['/usr/bin/csh', 'tcsh'],
] as const

/**
 * Links that put the unpacked programs where they expect themselves. Not a layer of the nodes' overlay: the folder is on the host's
 * file system, which is a layer already, and overlayfs rejects layers inside each other.
 */
export function programLinks(): FileSpec[] {
  const links = USED.flatMap((top) => filesBelow(top)).map((file) => ({
    // Debian merges /bin into /usr/bin.
    path: file.startsWith('bin/') ? `/usr/${file}` : `/${file}`,
    content: '',
    link: path.join(PROGRAMS_IN_NODE, file),
  }))
  return [...links, ...ALTERNATIVES.map(([at, link]) => ({ path: at, content: '', link }))]
}

function filesBelow(name: string): string[] {
  const full = path.join(slurmPrograms, name)
  if (!existsSync(full)) return []
  if (!lstatSync(full).isDirectory()) return [name]
  return readdirSync(full).flatMap((entry) => filesBelow(path.join(name, entry)))
}

import fs from 'node:fs'
import path from 'node:path'
import { downloadDebs } from './debs.mjs'
import { slurmPackages as archives, slurm as folder } from './paths.mjs'
import { Aborted, ensureStep, exec, fingerprint, progress, StepFailed, step } from './step.mjs'
import { which } from './system-packages.mjs'

/** Packages whose programs lab nodes run: a cluster with its database, a shell that is not POSIX, and a shifted clock. */
const PACKAGES = [
  'slurmctld',
  'slurmd',
  'slurmdbd',
  'slurm-client',
  'slurmrestd',
  'slurm-wlm-basic-plugins',
  'slurm-wlm-mysql-plugin',
  'munge',
  'mariadb-server',
  'mariadb-server-core',
  'mariadb-client-core',
  'tcsh',
  'faketime',
]

/**
 * Unpacks Debian's Slurm for the lab, with the libraries that this machine lacks, and keeps the packages for nodes that install them. It is not installed: the packages would start their
 * services on this machine. Only a lab in namespaces can run it, which needs root.
 * @returns {Promise<boolean>} false when this system cannot provide it; the reason is printed
 */
export async function slurm() {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const outputs = ['usr/sbin/slurmctld-wlm', 'usr/sbin/munged', 'usr/sbin/mariadbd']
    .map((file) => path.join(folder, file))
    .concat(archives)
  try {
    if (!which('apt-get') || !which('dpkg-deb')) throw new StepFailed('it is unpacked from packages of Debian and Ubuntu')
    await ensureStep({ name: 'slurm', key: fingerprint([], PACKAGES), outputs }, () => step('Unpack Slurm for the lab', unpack))
    return true
  } catch (error) {
    if (error instanceof Aborted) throw error
    progress.out.write(`  A lab with Slurm is not possible: ${error.message}.\n`)
    return false
  }
}

async function unpack() {
  fs.rmSync(archives, { recursive: true, force: true })
  fs.rmSync(folder, { recursive: true, force: true })
  const downloads = await downloadDebs('slurm', PACKAGES)
  for (const name of fs.readdirSync(downloads).filter((file) => file.endsWith('.deb')))
    await exec(['dpkg-deb', '--extract', path.join(downloads, name), folder])
  fs.renameSync(downloads, archives)
}

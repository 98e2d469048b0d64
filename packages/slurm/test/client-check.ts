import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = fileURLToPath(new URL('../../../.tool/slurm', import.meta.url))
const libraries = ['usr/lib/x86_64-linux-gnu', 'usr/lib/aarch64-linux-gnu'].map((name) => path.join(folder, name))

/** The client of Debian's Slurm, and in long tests those that the option --slurm-lab provides in /opt. */
export const CLIENTS = ['22.05', ...(process.env.MUSTER_SLURM_LAB ? ['23.11', '25.11'] : [])].flatMap((release) => {
  const program = release === '22.05' ? path.join(folder, 'usr/bin/scontrol') : `/opt/slurm-${release}/bin/scontrol`
  return existsSync(program) ? [{ release, program }] : []
})

/** Slurm's client-side check of slurm.conf: what it prints when it refuses the file, null when it accepts it. */
export function createClientCheck(program: string) {
  const temp = mkdtempSync(path.join(os.tmpdir(), 'slurm-conf-'))
  const file = path.join(temp, 'slurm.conf')
  const paths = program.startsWith(folder) ? libraries.flatMap((lib) => [lib, path.join(lib, 'slurm-wlm')]) : []
  // The client refuses a configuration whose plugins are missing. Those of Debian are not installed, only unpacked.
  const plugins = paths.find((lib) => existsSync(path.join(lib, 'libslurmfull.so')))
  const prefix = plugins ? `PluginDir=${plugins}\n` : ''
  return {
    check(text: string): string | null {
      writeFileSync(file, prefix + text)
      const env = { SLURM_CONF: file, LD_LIBRARY_PATH: paths.join(':'), LC_ALL: 'C' }
      const { status, stderr } = spawnSync(program, ['show', 'hostnames', 'a'], { env, encoding: 'utf8' })
      return status === 0 ? null : stderr
    },
    close: () => rmSync(temp, { recursive: true }),
  }
}

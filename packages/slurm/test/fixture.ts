import fs from 'node:fs'
import path from 'node:path'

/** Versions of Slurm whose output was recorded. */
export const VERSIONS = ['22.05', '23.11', '25.11'] as const

export const fixture = (version: (typeof VERSIONS)[number], name: string): string =>
  fs.readFileSync(path.join(import.meta.dirname, '../fixtures', `slurm-${version}`, name), 'utf8')

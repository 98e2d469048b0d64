import { readFileSync } from 'node:fs'
import path from 'node:path'
import { type ConfigFiles, type ConfigNode, checkConfig } from '../src/config/index.ts'

const read = (name: string) => readFileSync(path.join(import.meta.dirname, '../fixtures/config', name), 'utf8')

/** The configuration of a cluster with 4 GPU nodes, 3 others, and 2 of a cloud. */
export const SITE: ConfigFiles = {
  'slurm.conf': read('slurm.conf'),
  'gres.conf': read('gres.conf'),
  'topology.conf': read('topology.conf'),
}

export const configNode = (name: string, values: Partial<ConfigNode> = {}): ConfigNode => ({
  name,
  address: name,
  sockets: 2,
  coresPerSocket: 16,
  threadsPerCore: 2,
  realMemoryMiB: 512_000,
  gres: [],
  features: [],
  ...values,
})

/** The errors of a configuration, one per line. */
export const configErrors = (files: ConfigFiles, release = '22.05'): string =>
  checkConfig(files, release)
    .filter(({ severity }) => severity === 'ERROR')
    .map(({ file, line, message }) => `${file}:${line}: ${message}`)
    .join('\n')

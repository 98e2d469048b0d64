import { createHash, randomBytes } from 'node:crypto'
import path from 'node:path'
import type { SlurmCluster } from '@muster/core/clusters'
import { CONFIG_FILES, type ConfigFiles, diffConfig } from '@muster/core/slurm-configs'
import { type ControllerContext, OperationFailure } from './operation.ts'

const TIMEOUT_MS = 30_000
const MAX_BYTES = 16 * 1024 * 1024
const DEFAULT_FOLDER = '/etc/slurm'
const MAX_DIFF = 20_000

/** Folder of the configuration on the hosts of a cluster, as slurmctld reports it. */
export function configFolder({ settings }: Pick<SlurmCluster, 'settings'>): string {
  const folder = path.posix.dirname(settings.SLURM_CONF ?? `${DEFAULT_FOLDER}/slurm.conf`)
  // Configless clients have a copy that their daemon keeps; it is no place to write.
  return /^\/[0-9A-Za-z/._+-]+$/.test(folder) && !folder.startsWith('/run/') ? folder : DEFAULT_FOLDER
}

/** Some files may be read by root only. */
const script = (folder: string, nonce: string): string =>
  [
    `cd ${folder} 2>/dev/null || sudo -n true || exit 3`,
    `for file in ${CONFIG_FILES.join(' ')}; do`,
    `if [ -r "${folder}/$file" ]; then text=$(base64 < "${folder}/$file")`,
    `elif text=$(sudo -n cat "${folder}/$file" 2>/dev/null | base64) && [ -n "$text" ]; then :`,
    `elif [ -e "${folder}/$file" ]; then echo "${nonce} $file unreadable"; continue`,
    'else continue; fi',
    `echo "${nonce} $file $(echo $text | tr -d ' ')"`,
    'done',
    `echo "${nonce} end"`,
    '',
  ].join('\n')

/**
 * Reads the configuration files of a host; null when it has no slurm.conf.
 * @throws OperationFailure the account may not read them; SshFailure
 */
export async function readConfigFiles({ session, signal }: ControllerContext, folder: string): Promise<ConfigFiles | null> {
  const nonce = randomBytes(16).toString('hex')
  const ran = await session.exec('sh -s', { stdin: script(folder, nonce), timeoutMs: TIMEOUT_MS, maxBytes: MAX_BYTES, signal })
  const lines = ran.stdout
    .toString('utf8')
    .split('\n')
    .flatMap((line) => (line.startsWith(`${nonce} `) ? [line.slice(nonce.length + 1).split(' ')] : []))
  if (!lines.some(([word]) => word === 'end'))
    throw new OperationFailure(
      `The files in ${folder} could not be read: ${ran.stderr.toString('utf8').trim().slice(0, 500) || 'the output was cut off'}.`,
    )
  const files: Partial<ConfigFiles> = {}
  for (const [name, text = ''] of lines) {
    const file = CONFIG_FILES.find((one) => one === name)
    if (!file) continue
    if (text === 'unreadable')
      throw new OperationFailure(`The account may not read ${folder}/${file}. Let it use sudo, or choose another.`)
    files[file] = Buffer.from(text, 'base64').toString('utf8')
  }
  return files['slurm.conf'] === undefined ? null : (files as ConfigFiles)
}

/** How files differ, as in a unified diff without context; null when they are the same. */
export function describeDifference(from: ConfigFiles, to: ConfigFiles | null): string | null {
  if (to === null) return 'slurm.conf is missing.'
  const text = diffConfig(from, to)
    .map(({ file, lines }) => [file, ...lines.filter(({ kind }) => kind !== ' ').map(({ kind, text }) => kind + text)].join('\n'))
    .join('\n')
  return text === '' ? null : text.slice(0, MAX_DIFF)
}

/** Hashes that the files of a host may have, for the role. */
export const expectedHashes = (versions: ConfigFiles[]): Record<string, string[]> =>
  Object.fromEntries(
    CONFIG_FILES.map((file) => [
      file,
      [...new Set(versions.map((files) => (files[file] === undefined ? '' : hashOf(files[file]))))],
    ]),
  )

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

import { apiVersion, releaseNumber } from './api-versions.ts'
import { squeueFormat } from './parse-jobs.ts'

/** What a client reads from a controller's host; each is one command. `tasks` are the jobs with one record per array task. */
export type SlurmQuery =
  | 'version'
  | 'controllers'
  | 'config'
  | 'nodes'
  | 'partitions'
  | 'reservations'
  | 'jobs'
  | 'tasks'
  | 'scheduler'
  | 'licenses'

/** The release from which on commands take the name of a data_parser plugin. They have no stable default: each release changes `--json`. */
const NAMED_PARSERS = 23.11
/** Releases from which on scontrol prints JSON, without naming a parser. */
const SCONTROL_JSON = 23.02
/** Releases from which on sinfo prints one JSON object per node; later ones print groups of nodes. */
const SINFO_JSON = 21.08

/**
 * The arguments of a query, a constant for each version.
 * @param version from `parseVersion`; null: what every version understands
 * @param nonce random, from the caller; the records of `jobs` end with it, so that nobody can forge one in the text of a job
 */
export function queryArguments(query: SlurmQuery, version: string | null, nonce: string): string[] {
  switch (query) {
    case 'version':
      return ['scontrol', '--version']
    case 'controllers':
      return ['scontrol', 'ping']
    case 'config':
      return ['scontrol', 'show', 'config']
    case 'nodes':
      return nodeArguments(releaseNumber(version))
    case 'partitions':
      return ['scontrol', '--all', 'show', 'partitions', '--oneliner']
    case 'reservations':
      return ['scontrol', 'show', 'reservations', '--oneliner']
    case 'jobs':
      return ['squeue', '--all', '--states=all', '--noheader', `--Format=${squeueFormat(nonce)}`]
    case 'tasks':
      return ['squeue', '--all', '--noheader', '--array', `--Format=${squeueFormat(nonce)}`]
    case 'scheduler':
      return ['sdiag']
    case 'licenses':
      return ['scontrol', 'show', 'licenses', '--oneliner']
  }
}

function nodeArguments(version: number): string[] {
  if (version >= NAMED_PARSERS) return ['scontrol', '--all', 'show', 'nodes', `--json=${apiVersion(version)}`]
  if (version >= SCONTROL_JSON) return ['scontrol', '--all', 'show', 'nodes', '--json']
  if (version >= SINFO_JSON) return ['sinfo', '--all', '--json']
  return ['scontrol', '--all', '--detail', 'show', 'nodes', '--oneliner']
}

/** Families of variables of the account that filter or change what the commands do and print. */
const UNSET_FAMILIES = ['SACCT_', 'SACCTMGR_', 'SCANCEL_', 'SCONTROL_', 'SINFO_', 'SPRIO_', 'SQUEUE_', 'SSHARE_']
/** Variables that ask another cluster or change the form of the output. SLURM_CONF stays: it may be the only way to the configuration. */
const UNSET = ['SLURM_CLUSTERS', 'SLURM_JSON', 'SLURM_YAML', 'SLURM_DEBUG_FLAGS']

/**
 * Unsets the families by shell builtins only. `export -p` prints values, too: words of them that look like such a variable only unset a
 * variable that must go anyway, and other words are skipped.
 */
const UNSET_SCRIPT = [
  'set -f',
  'for word in $(export -p); do',
  'case $word in',
  `${UNSET_FAMILIES.map((family) => `${family}*`).join('|')})`,
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is for the shell
  'word=${word%%=*}',
  'case $word in *[!A-Z0-9_]*) ;; *) unset "$word" ;; esac',
  ';;',
  'esac',
  'done',
  `unset ${UNSET.join(' ')}`,
]

/** Folders of Slurm's programs that a shell without a profile does not search. */
const FOLDERS = ['/usr/local/bin', '/opt/slurm/bin', '/opt/slurm/current/bin', '/usr/local/slurm/bin', '/usr/bin', '/bin']

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/**
 * squeue cuts the task list of an array at 64 characters, and commands do not accept the rest. The limit keeps IDs short enough for an
 * index of the database.
 */
const TASK_LIST_LENGTH = 2000

/** Without TZ, the C library reads the state of this file for each time that squeue prints; with it, once. */
const TIME_ZONE = '/etc/localtime'

/**
 * A script that runs one command, for the standard input of `sh -s`: so any login shell can start it. The command's output follows a
 * line with the nonce; what shells print before it (banners) does not count. The nonce with the exit code follows the output.
 * @param folder folder of Slurm's programs on that host, or null
 */
export function queryScript(argv: readonly string[], nonce: string, folder: string | null): string {
  const path = [...(folder ? [folder] : []), '$PATH', ...FOLDERS].map((part) => (part === '$PATH' ? part : quoted(part)))
  return [
    ...UNSET_SCRIPT,
    `PATH=${path.join(':')} LC_ALL=C TZ=\${TZ-:${TIME_ZONE}} SLURM_TIME_FORMAT=%s SLURM_BITSTR_LEN=${TASK_LIST_LENGTH}`,
    'export PATH LC_ALL TZ SLURM_TIME_FORMAT SLURM_BITSTR_LEN',
    `echo ${nonce}`,
    `${argv.map(quoted).join(' ')} </dev/null`,
    'code=$?',
    `printf '\\n%s %s\\n' ${nonce} $code`,
    'exit $code',
    '',
  ].join('\n')
}

/** The command's own output, also when it was cut off; null when the shell did not get as far as running it. */
export function outputAfter(nonce: string, output: string): string | null {
  const line = `${nonce}\n`
  const start = output.indexOf(line)
  if (start < 0) return null
  const end = endOf(nonce, output)
  return output.slice(start + line.length, end < 0 ? undefined : end)
}

/** Whether the command ended and its whole output was received. */
export const isComplete = (nonce: string, output: string): boolean => endOf(nonce, output) >= 0

function endOf(nonce: string, output: string): number {
  const end = output.lastIndexOf(`\n${nonce} `)
  return end >= 0 && /^\n\w+ \d+\n/.test(output.slice(end)) ? end : -1
}

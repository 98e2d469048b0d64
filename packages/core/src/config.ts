import { closeSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { z } from 'zod'

const port = z.coerce.number().int().min(0).max(65535)
const seconds = (fallback: number) => z.coerce.number().positive().default(fallback)
const path = z.string().startsWith('/', 'must be an absolute path')

/** Every setting of every process, by the name of its environment variable. */
export const SETTINGS = {
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'must look like postgres://user:password@host:port/database'),
  /** From this password the keys that seal credentials are derived. */
  CREDENTIAL_MASTER_PASSWORD: z.string().min(12, 'must have at least 12 characters').optional(),
  /** File that holds it instead; one trailing newline is ignored. */
  CREDENTIAL_MASTER_PASSWORD_FILE: path.optional(),
  /** Open file descriptor from which it is read to the end instead. */
  CREDENTIAL_MASTER_PASSWORD_FD: z.coerce.number().int().min(3, 'must be 3 or more').max(1023).optional(),
  CREDENTIAL_KEY_VERSION: z.coerce.number().int().min(1).max(255).default(1),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
  /** Where the API listens. */
  HOST: z.string().default('127.0.0.1'),
  PORT: port.default(4000),
  /** 1: whoever connects to the API is a proxy of ours, and names the client whose sign-ins are counted. */
  TRUST_PROXY: z.enum(['0', '1'], 'must be 1 or 0').default('0'),
  /** The address people type; links and cookies are made from it. */
  MUSTER_PUBLIC_URL: z.url().default('http://localhost:3000'),
  MUSTER_OWNER_EMAIL: z.email().default('owner@muster.local'),
  MUSTER_TENANT_NAME: z.string().min(1).default('Default'),
  /** Signs session cookies. Without it one is derived from the master password. */
  AUTH_SECRET: z.string().min(16, 'must have at least 16 characters').optional(),
  /** Where the worker answers /healthz, /readyz and /metrics; 0 picks a free port. */
  WORKER_PORT: port.default(4001),
  /** Holds one private directory per run while it goes on. */
  ANSIBLE_WORK_DIR: path.default('/var/lib/muster/ansible'),
  /** The playbooks shipped with the product. */
  ANSIBLE_PLAYBOOK_REPO_PATH: path.optional(),
  /** The ansible-playbook executable. */
  ANSIBLE_PLAYBOOK: z.string().default('ansible-playbook'),
  /** What playbooks are kept in on the worker's machine; auto: the best that can be used. */
  ANSIBLE_ISOLATION: z.enum(['auto', 'bubblewrap', 'uid', 'none'], 'must be auto, bubblewrap, uid or none').default('auto'),
  /** What they may read there besides programs and playbooks. */
  ANSIBLE_READABLE_PATHS: z
    .string()
    .default('')
    .transform((text) => text.split(':').filter(Boolean))
    .refine((paths) => paths.every((one) => one.startsWith('/')), 'must be absolute paths with colons between them'),
  /** Where logs and files of runs are kept, unless there is a NODE_ARTIFACTS_BUCKET. Workers and API processes on several machines must share it. */
  ARTIFACT_DIR: path.default('/var/lib/muster/artifacts'),
  /** What the files of one run may have together, in MiB. */
  ARTIFACT_MAX_SIZE: z.coerce.number().int().min(1).max(1_048_576).default(1024),
  /** Bucket of an S3-compatible store for them instead. */
  NODE_ARTIFACTS_BUCKET: z.string().min(1).optional(),
  S3_ENDPOINT: z.url().optional(),
  S3_REGION: z.string().min(1).default('us-east-1'),
  /** Without them the AWS SDK looks where it always does: its own variables, files, or the machine's role. */
  S3_ACCESS_KEY_ID: z.string().min(1).optional(),
  S3_SECRET_ACCESS_KEY: z.string().min(1).optional(),
  /** Before the keys of all objects. */
  S3_PREFIX: z
    .string()
    .regex(/^[\w!.*'()/-]*$/, "may have letters, digits and !.*'()/-_")
    .default(''),
  /** 1: the bucket's name stands in the path, as most stores other than Amazon's want it. */
  S3_PATH_STYLE: z.enum(['0', '1'], 'must be 1 or 0').default('0'),
  /** 1: alerts may also go to addresses of the worker's own machine and link. */
  ALERT_LOCAL_TARGETS: z.enum(['0', '1'], 'must be 1 or 0').default('0'),
  /** Runs that one worker executes at once. */
  JOB_RUNNER_CONCURRENCY: z.coerce.number().int().min(1).max(256).default(4),
  /** Seconds between asking a run to stop and killing it. */
  JOB_CANCEL_GRACE_PERIOD: seconds(30),
  /** Connection tests and discoveries that one worker does at once. */
  SSH_CONCURRENCY: z.coerce.number().int().min(1).max(1024).default(32),
  /** Seconds that one SSH stage may take. */
  SSH_TIMEOUT: seconds(10),
} satisfies Record<string, z.ZodType>

type Settings = { [K in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[K]> }

/** Settings that other node managers have and this one has not, and what takes their place. Whoever sets one counts on it. */
export const FOREIGN_SETTINGS = {
  ANSIBLE_SSH_ARGS:
    'host keys are always checked; host, port, user and bastion are said of each node, and SSH_TIMEOUT says how long to wait',
  DB_DSN: 'set DATABASE_URL, as postgres://user:password@host:port/database',
  DEFAULT_TENANT_ID: "ids of tenants are the database's; MUSTER_TENANT_NAME names the one that the first start makes",
  JOB_QUEUE_NAME: 'the queue is in the database; give each installation a DATABASE_URL of its own',
  REDIS_DSN: 'there is no Redis; the queue is in the database that DATABASE_URL names',
}

/** A lookup of settings: in `env` and, below it, in the file that MUSTER_CONFIG names (lines of NAME=value). */
function settingsOf(env: NodeJS.ProcessEnv): (name: string) => { value: string; source: string } | null {
  const file = env.MUSTER_CONFIG
  let fromFile: NodeJS.Dict<string> = {}
  if (file) {
    try {
      fromFile = parseEnv(readFileSync(file, 'utf8'))
    } catch (error) {
      throw new Error(`MUSTER_CONFIG names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
    }
  }
  return (name) => {
    const given = env[name]
    // An empty variable counts as not set: that is how compose files pass on what nobody gave.
    if (given) return { value: given, source: 'the environment' }
    const kept = fromFile[name]
    return kept && file ? { value: kept, source: file } : null
  }
}

/** For each foreign setting that is given, a line that says what to do; for the log of a process that starts. */
export function foreignSettings(env: NodeJS.ProcessEnv): string[] {
  const find = settingsOf(env)
  return Object.entries(FOREIGN_SETTINGS).flatMap(([name, instead]) => {
    const given = find(name)
    return given ? `${name} (from ${given.source}) means nothing here: ${instead}` : []
  })
}

/**
 * Read settings from `env` and from the file named by MUSTER_CONFIG.
 * @returns the settings named in `names`, checked
 * @throws Error with one line per wrong setting: its name, what is allowed, and where it came from
 */
export function loadConfig<K extends keyof Settings>(env: NodeJS.ProcessEnv, names: readonly K[]): Pick<Settings, K> {
  const find = settingsOf(env)
  const wrong: string[] = []
  const config: Record<string, unknown> = {}
  for (const name of names) {
    const given = find(name)
    const parsed = SETTINGS[name].safeParse(given?.value)
    if (parsed.success) config[name] = parsed.data
    else if (!given) wrong.push(`${name} is not set: ${parsed.error.issues[0]!.message}`)
    // The value itself is not shown: it may be a secret.
    else wrong.push(`${name} (from ${given.source}): ${parsed.error.issues.map((i) => i.message).join(', ')}`)
  }
  if (wrong.length > 0) throw new Error(`Wrong configuration:\n  ${[...wrong, ...foreignSettings(env)].join('\n  ')}`)
  return config as Pick<Settings, K>
}

/** The settings of the artifact store. */
export const ARTIFACT_STORE = [
  'ARTIFACT_DIR',
  'NODE_ARTIFACTS_BUCKET',
  'S3_ENDPOINT',
  'S3_REGION',
  'S3_ACCESS_KEY_ID',
  'S3_SECRET_ACCESS_KEY',
  'S3_PREFIX',
  'S3_PATH_STYLE',
] as const

/** The settings that say what the master password is; one of them has to be there. */
export const MASTER_PASSWORD = [
  'CREDENTIAL_MASTER_PASSWORD',
  'CREDENTIAL_MASTER_PASSWORD_FILE',
  'CREDENTIAL_MASTER_PASSWORD_FD',
] as const

/**
 * The master password, from wherever it was given, and no longer there for anything that this process starts: it is taken out of
 * `env`, and the descriptor is closed.
 * @throws Error when there is none that can be used
 */
export function takeMasterPassword(config: Pick<Settings, (typeof MASTER_PASSWORD)[number]>, env: NodeJS.ProcessEnv): string {
  for (const name of MASTER_PASSWORD) delete env[name]
  const { CREDENTIAL_MASTER_PASSWORD: given, CREDENTIAL_MASTER_PASSWORD_FD: fd, CREDENTIAL_MASTER_PASSWORD_FILE: file } = config
  if (fd !== undefined) return readPassword(fd, `CREDENTIAL_MASTER_PASSWORD_FD names the descriptor ${fd}`)
  if (given) return given
  if (file) return readPassword(file, `CREDENTIAL_MASTER_PASSWORD_FILE names ${file}`)
  throw new Error(`Wrong configuration:\n  set one of ${MASTER_PASSWORD.join(', ')}: credentials are sealed with it`)
}

function readPassword(from: string | number, named: string): string {
  const wrong = (why: string) => new Error(`Wrong configuration:\n  ${named}, ${why}`)
  let text: string
  try {
    text = readFileSync(from, 'utf8').replace(/\r?\n$/, '')
    if (typeof from === 'number') closeSync(from)
  } catch (error) {
    throw wrong(`which cannot be read (${(error as NodeJS.ErrnoException).code})`)
  }
  const parsed = SETTINGS.CREDENTIAL_MASTER_PASSWORD.safeParse(text)
  if (!parsed.success) throw wrong(`whose text ${parsed.error.issues.map((i) => i.message).join(', ')}`)
  return text
}

import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { z } from 'zod'

/** Settings by the name of their environment variable. Each domain exports its own; a process composes those it reads. */
export type Settings = Readonly<Record<string, z.ZodType>>
export type Config<S extends Settings> = { [K in keyof S]: z.output<S[K]> }

export const portSetting = z.coerce.number().int().min(0).max(65535)
export const secondsSetting = (fallback: number) => z.coerce.number().positive().default(fallback)
export const pathSetting = z.string().startsWith('/', 'must be an absolute path')

/** Settings of every process. */
export const processSettings = {
  DATABASE_URL: z.string().regex(/^postgres(ql)?:\/\//, 'must look like postgres://user:password@host:port/database'),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
} as const

/** Some of `settings`. */
export const pickSettings = <S extends Settings, K extends keyof S>(settings: S, ...names: K[]): Pick<S, K> =>
  Object.fromEntries(names.map((name) => [name, settings[name]])) as unknown as Pick<S, K>

/** Settings that other node managers have and this one has not, and what takes their place. Whoever sets one counts on it. */
export const UNSUPPORTED_SETTINGS = {
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
export function unsupportedSettings(env: NodeJS.ProcessEnv): string[] {
  const find = settingsOf(env)
  return Object.entries(UNSUPPORTED_SETTINGS).flatMap(([name, instead]) => {
    const given = find(name)
    return given ? `${name} (from ${given.source}) means nothing here: ${instead}` : []
  })
}

/**
 * Reads `settings` from `env` and from the file named by MUSTER_CONFIG.
 * @throws Error with one line per wrong setting: its name, what is allowed, and where its value came from
 */
export function loadConfig<S extends Settings>(env: NodeJS.ProcessEnv, settings: S): Config<S> {
  const find = settingsOf(env)
  const wrong: string[] = []
  const config: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const given = find(name)
    const parsed = setting.safeParse(given?.value)
    if (parsed.success) config[name] = parsed.data
    else if (!given) wrong.push(`${name} is not set: ${parsed.error.issues[0]!.message}`)
    // The value itself is not shown: it may be a secret.
    else wrong.push(`${name} (from ${given.source}): ${parsed.error.issues.map((i) => i.message).join(', ')}`)
  }
  if (wrong.length > 0) throw new Error(`Wrong configuration:\n  ${[...wrong, ...unsupportedSettings(env)].join('\n  ')}`)
  return config as Config<S>
}

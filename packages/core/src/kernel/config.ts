import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { z } from 'zod'

/** Settings by the name of their environment variable. Each domain exports its own; a process combines those it reads. */
export type Settings = Readonly<Record<string, z.ZodType>>
export type Config<S extends Settings> = { [K in keyof S]: z.output<S[K]> }

export const portSetting = z.coerce.number().int().min(0).max(65535)
export const secondsSetting = (fallback: number) => z.coerce.number().positive().default(fallback)
export const pathSetting = z.string().startsWith('/', 'must be an absolute path')

const postgresUrl = z.string().regex(/^postgres(ql)?:\/\//, 'must look like postgres://user:password@host:port/database')

/** Settings of every process. */
export const processSettings = {
  /** Of the database's owner; only migrations need it. The URLs of the roles are derived from it when they are not set. */
  DATABASE_URL: postgresUrl.optional(),
  DATABASE_APP_URL: postgresUrl.optional(),
  DATABASE_SYSTEM_URL: postgresUrl.optional(),
  /** Time limit of a statement of the application role in the API, in seconds. */
  DATABASE_STATEMENT_TIMEOUT: secondsSetting(30),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'silent']).default('info'),
} as const

/** A subset of `settings`. */
export const pickSettings = <S extends Settings, K extends keyof S>(settings: S, ...names: K[]): Pick<S, K> =>
  Object.fromEntries(names.map((name) => [name, settings[name]])) as unknown as Pick<S, K>

/** Settings of other node managers that have no effect here, with their replacement. Processes warn about them at start. */
export const UNSUPPORTED_SETTINGS = {
  ANSIBLE_SSH_ARGS: 'host keys are always checked; each node has its host, port, user and bastion; SSH_TIMEOUT sets the timeout',
  DB_DSN: 'set DATABASE_URL, as postgres://user:password@host:port/database',
  DEFAULT_TENANT_ID: 'the database assigns tenant ids; MUSTER_TENANT_NAME names the tenant that the first start creates',
  JOB_QUEUE_NAME: 'the queue is in the database; use one DATABASE_URL per installation',
  REDIS_DSN: 'Redis is not used; the queue is in the database of DATABASE_URL',
}

/** A lookup of settings in `env`, then in the file named by MUSTER_CONFIG (lines of NAME=value). */
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
    const fromEnv = env[name]
    // An empty variable counts as unset: compose files pass unset variables on as empty ones.
    if (fromEnv) return { value: fromEnv, source: 'the environment' }
    const value = fromFile[name]
    return value && file ? { value, source: file } : null
  }
}

/** A setting with the content of the file that NAME_FILE names; one trailing newline is ignored. */
function fromFileOf(name: string, find: ReturnType<typeof settingsOf>): { value: string; source: string } | null {
  const file = find(`${name}_FILE`)?.value
  if (!file) return null
  try {
    const value = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
    return value ? { value, source: file } : null
  } catch (error) {
    throw new Error(`${name}_FILE names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

/** One line per unsupported setting that is set, with its replacement; for the log at start. */
export function unsupportedSettings(env: NodeJS.ProcessEnv): string[] {
  const find = settingsOf(env)
  return Object.entries(UNSUPPORTED_SETTINGS).flatMap(([name, replacement]) => {
    const given = find(name)
    return given ? `${name} (from ${given.source}) is not supported: ${replacement}` : []
  })
}

/**
 * Reads `settings` from `env` and from the file named by MUSTER_CONFIG.
 * @throws Error with one line per invalid setting: its name, the allowed values, and the source of its value
 */
export function loadConfig<S extends Settings>(env: NodeJS.ProcessEnv, settings: S): Config<S> {
  const find = settingsOf(env)
  const errors: string[] = []
  const config: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const given = find(name) ?? (`${name}_FILE` in settings ? null : fromFileOf(name, find))
    const parsed = setting.safeParse(given?.value)
    if (parsed.success) config[name] = parsed.data
    else if (!given) errors.push(`${name} is not set: ${parsed.error.issues[0]!.message}`)
    // The value is not shown, because it may be a secret.
    else errors.push(`${name} (from ${given.source}): ${parsed.error.issues.map((i) => i.message).join(', ')}`)
  }
  if (errors.length > 0) throw new Error(`Invalid configuration:\n  ${[...errors, ...unsupportedSettings(env)].join('\n  ')}`)
  return config as Config<S>
}

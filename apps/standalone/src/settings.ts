import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs, parseEnv } from 'node:util'
import { root } from './root.ts'

export type Settings = {
  /** Where all data lives; absolute. */
  dataDir: string
  /** Where the console listens, and from which port on a free one is looked for. */
  host: string
  port: number
  /** An own Postgres instead of the one that comes with npm. */
  databaseUrl?: string
  /** The console's address as people type it; default http://localhost:PORT. */
  publicUrl?: string
  /** Given to us, to be handed on over a pipe: not where children would inherit it. */
  masterPassword?: string
  /** There is one already, or children find it by themselves in a file. */
  hasMasterPassword: boolean
  /** How many lab nodes to bring up; 0 is none. */
  lab: number
  /** Development: everything starts again when its sources change. */
  watch: boolean
}

const wholeNumber = (from: number, to: number) => (text: string) => {
  const number = Number(text)
  if (!/^\d+$/.test(text) || number < from || number > to) throw new Error(`must be a whole number from ${from} to ${to}`)
  return number
}
const matching = (pattern: RegExp, allowed: string) => (text: string) => {
  if (!pattern.test(text)) throw new Error(allowed)
  return text
}

/**
 * Read the settings of `npm start`: options first, then the environment, then the file that MUSTER_CONFIG names (lines of NAME=value).
 * @param argv `--lab N`, `--port P`, `--watch`
 * @throws Error with one line per wrong setting: its name, where it came from, and what is allowed. Values are not shown: some are secret.
 */
export function readSettings(argv: string[], env: NodeJS.ProcessEnv): Settings {
  const options = parseOptions(argv)
  const file = env.MUSTER_CONFIG
  const fromFile = file ? readConfigFile(file) : {}
  const wrong: string[] = []
  const setting = <T>(name: string, parse: (text: string) => T, fallback: T, option?: string): T => {
    const [text, source] =
      option !== undefined ? [option, 'the command line'] : env[name] ? [env[name], 'the environment'] : [fromFile[name], file]
    if (!text) return fallback
    try {
      return parse(text)
    } catch (error) {
      wrong.push(`${name} (from ${source}): ${(error as Error).message}`)
      return fallback
    }
  }
  const settings: Settings = {
    dataDir: path.resolve(
      root,
      setting('MUSTER_DATA_DIR', (text) => text, '.muster'),
    ),
    host: setting('HOST', matching(/^[\w.:%-]+$/, 'must be an address of this machine, as 127.0.0.1 or 0.0.0.0'), '127.0.0.1'),
    port: setting('PORT', wholeNumber(1, 65535), 3000, options.port),
    databaseUrl: setting<string | undefined>(
      'DATABASE_URL',
      matching(/^postgres(ql)?:\/\//, 'must look like postgres://user:password@host:port/database'),
      undefined,
    ),
    publicUrl: setting<string | undefined>(
      'MUSTER_PUBLIC_URL',
      matching(/^https?:\/\/[^/]+\/?$/, 'must look like https://muster.example.org'),
      undefined,
    ),
    masterPassword: env.CREDENTIAL_MASTER_PASSWORD || undefined,
    hasMasterPassword: ['CREDENTIAL_MASTER_PASSWORD', 'CREDENTIAL_MASTER_PASSWORD_FILE'].some(
      (name) => env[name] || fromFile[name],
    ),
    lab: setting('--lab', wholeNumber(1, 64), 0, options.lab),
    watch: options.watch ?? false,
  }
  if (wrong.length) throw new Error(`Wrong configuration:\n  ${wrong.join('\n  ')}`)
  return settings
}

function parseOptions(argv: string[]) {
  try {
    return parseArgs({ args: argv, options: { lab: { type: 'string' }, port: { type: 'string' }, watch: { type: 'boolean' } } })
      .values
  } catch (error) {
    throw new Error(`${(error as Error).message}\nUsage: npm start -- [--lab N] [--port P]`)
  }
}

function readConfigFile(file: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`MUSTER_CONFIG names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

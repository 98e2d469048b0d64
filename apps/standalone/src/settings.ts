import { readFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs, parseEnv } from 'node:util'
import { root } from './root.ts'
import type { CertificateFiles } from './tls/certificate.ts'

export type Settings = {
  /** Absolute path of the data directory. */
  dataDir: string
  /** Listen address of the console. */
  host: string
  /** Preferred port of the console; the next free one is used. */
  port: number
  /** External Postgres that replaces the embedded one, with its owner. */
  databaseUrl?: string
  /** Directory of the artifact store, unless there is a bucket. */
  artifactDir: string
  artifactsBucket?: string
  /** Whether a start that migrates the database of an older version backs it up first. */
  upgradeBackup: boolean
  /** Roles of the application on an external Postgres; default: derived from `databaseUrl`. */
  databaseAppUrl?: string
  databaseSystemUrl?: string
  /** Whether another reverse proxy is in front of the console, and the file with the secret that it sends; see reverse-proxy.ts. */
  trustProxy: boolean
  proxySecretFile?: string
  /** TLS of the console: files of a certificate, or a generated self-signed one; null: plain HTTP. */
  tls: CertificateFiles | 'self-signed' | null
  /** The console's URL for users; default http://localhost:PORT, with TLS https. */
  publicUrl?: string
  /** Master password from the environment. Passed to children over a pipe, so that they do not inherit it. */
  masterPassword?: string
  /** Whether a master password or a file with one is configured. */
  hasMasterPassword: boolean
  /** Number of lab nodes; 0 for none. */
  lab: number
  /** Whether the lab nodes are a Slurm cluster. */
  slurm: boolean
  /** Whether the API serves machines that boot. */
  boot: boolean
  /** Development mode: restarts processes when their sources change. */
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
 * Reads the settings of `npm start`. Options override the environment, which overrides the file in MUSTER_CONFIG (NAME=value lines).
 * NAME_FILE names a file whose content is the setting NAME.
 * @param argv `--lab N`, `--slurm`, `--boot`, `--port P`, `--tls`, `--watch`
 * @throws Error with one line per invalid setting: name, source and allowed values. Values are not shown, because some are secret.
 */
export function readSettings(argv: string[], env: NodeJS.ProcessEnv): Settings {
  const options = parseOptions(argv)
  const file = env.MUSTER_CONFIG
  const fromFile = file ? readConfigFile(file) : {}
  const invalid: string[] = []
  const setting = <T>(name: string, parse: (text: string) => T, fallback: T, option?: string): T => {
    const contentFile = env[`${name}_FILE`] || fromFile[`${name}_FILE`]
    const [text, source] =
      option !== undefined
        ? [option, 'the command line']
        : env[name]
          ? [env[name], 'the environment']
          : fromFile[name]
            ? [fromFile[name], file]
            : [contentFile && readContent(`${name}_FILE`, contentFile), contentFile]
    if (!text) return fallback
    try {
      return parse(text)
    } catch (error) {
      invalid.push(`${name} (from ${source}): ${(error as Error).message}`)
      return fallback
    }
  }
  const text = (value: string) => value
  const absolute = matching(/^\//, 'must be an absolute path')
  const dataDir = path.resolve(root, setting('MUSTER_DATA_DIR', text, '.muster'))
  const postgresUrl = (name: string) =>
    setting<string | undefined>(
      name,
      matching(/^postgres(ql)?:\/\//, 'must look like postgres://user:password@host:port/database'),
      undefined,
    )
  const settings: Settings = {
    dataDir,
    host: setting(
      'HOST',
      matching(/^[\w.:%-]+$/, 'must be an address of this machine, such as 127.0.0.1 or 0.0.0.0'),
      '127.0.0.1',
    ),
    port: setting('PORT', wholeNumber(1, 65535), 3000, options.port),
    databaseUrl: postgresUrl('DATABASE_URL'),
    databaseAppUrl: postgresUrl('DATABASE_APP_URL'),
    databaseSystemUrl: postgresUrl('DATABASE_SYSTEM_URL'),
    artifactDir: setting('ARTIFACT_DIR', absolute, path.join(dataDir, 'artifacts')),
    artifactsBucket: setting<string | undefined>('NODE_ARTIFACTS_BUCKET', text, undefined),
    upgradeBackup: setting('MUSTER_UPGRADE_BACKUP', matching(/^[01]$/, 'must be 1 or 0'), '1') === '1',
    trustProxy: setting('TRUST_PROXY', matching(/^[01]$/, 'must be 1 or 0'), '0') === '1',
    proxySecretFile: setting<string | undefined>('PROXY_SECRET_FILE', absolute, undefined),
    tls: null,
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
    slurm: options.slurm ?? false,
    boot: options.boot ?? false,
    watch: options.watch ?? false,
  }
  if (settings.slurm && !settings.lab) invalid.push('--slurm (from the command line): requires --lab N')
  const certFile = setting<string | undefined>('TLS_CERT_FILE', absolute, undefined)
  const keyFile = setting<string | undefined>('TLS_KEY_FILE', absolute, undefined)
  settings.tls = certFile && keyFile ? { certFile, keyFile } : options.tls ? 'self-signed' : null
  if (!certFile !== !keyFile) invalid.push('TLS_CERT_FILE and TLS_KEY_FILE: set both, or neither of them')
  if (settings.tls && settings.publicUrl?.startsWith('http:'))
    invalid.push('MUSTER_PUBLIC_URL: must begin with https:// because the console uses TLS')
  if (invalid.length) throw new Error(`Invalid configuration:\n  ${invalid.join('\n  ')}`)
  return settings
}

/** Why `npm start` must not trust a proxy with these settings; null when it may. Playbooks reach the console's port on this machine. */
export const proxyIssue = ({ trustProxy, proxySecretFile }: Settings): string | null =>
  trustProxy && !proxySecretFile
    ? 'TRUST_PROXY: playbooks on this machine could forge client addresses. Set PROXY_SECRET_FILE to a file with a secret that your proxy sends in X-Muster-Proxy-Secret.'
    : null

function parseOptions(argv: string[]) {
  try {
    return parseArgs({
      args: argv,
      options: {
        lab: { type: 'string' },
        slurm: { type: 'boolean' },
        boot: { type: 'boolean' },
        port: { type: 'string' },
        tls: { type: 'boolean' },
        watch: { type: 'boolean' },
      },
    }).values
  } catch (error) {
    throw new Error(`${(error as Error).message}\nUsage: npm start -- [--lab N [--slurm]] [--boot] [--port P] [--tls]`)
  }
}

function readContent(name: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new Error(`${name} names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

function readConfigFile(file: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`Cannot read ${file} (MUSTER_CONFIG): ${(error as NodeJS.ErrnoException).code}.`)
  }
}

import fs from 'node:fs'
import os from 'node:os'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { type Level, levels } from './log.ts'

/** Invalid settings; the message is for the operator. */
export class ConfigError extends Error {
  override name = 'ConfigError'
}

const text = (value: unknown) => {
  if (typeof value !== 'string' && typeof value !== 'number') throw new ConfigError('must be a string')
  return String(value)
}
const list = (value: unknown) =>
  (Array.isArray(value) ? value : text(value).split(',')).map((item) => text(item).trim()).filter(Boolean)
const duration = (value: unknown) => {
  const found = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/.exec(text(value))
  if (!found) throw new ConfigError('must be a duration, such as 30s or 2m')
  return Number(found[1]) * { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }[found[2] ?? 's']!
}
const port = (value: unknown) => {
  const number = Number(text(value))
  if (!Number.isInteger(number) || number < 1 || number > 65_535) throw new ConfigError('must be a port from 1 to 65535')
  return number
}
const url = (value: unknown) => {
  const found = URL.parse(text(value))
  if (!found || !/^https?:$/.test(found.protocol)) throw new ConfigError('must be a URL, such as https://muster.example.org')
  return text(value).replace(/\/+$/, '')
}
const level = (value: unknown) => {
  const found = levels.find((name) => name === value)
  if (!found) throw new ConfigError(`must be one of ${levels.join(', ')}`)
  return found
}
const loopback = (value: unknown) => {
  const found = /^(127(?:\.\d{1,3}){3}|\[::1\]):(\d{1,5})$/.exec(text(value))
  if (!found) throw new ConfigError('must be a loopback address with port, such as 127.0.0.1:9177')
  return { host: found[1]!.replace(/[[\]]/g, ''), port: port(found[2]) }
}
const nodeId = (value: unknown) => {
  if (!/^[A-Za-z0-9._-]{4,64}$/.test(text(value)))
    throw new ConfigError('must be 4 to 64 letters, digits, dots, underscores or hyphens')
  return text(value)
}

/** Keys of the config file. Each is also a flag (--node-id) and an environment variable (MUSTER_AGENT_NODE_ID). */
const KEYS = {
  'node-id': nodeId,
  'cluster-id': text,
  'provider-address': text,
  'provider-daemon-url': url,
  'api-url': url,
  'heartbeat-interval': duration,
  'key-file': text,
  'ca-file': text,
  'token-file': text,
  'state-dir': text,
  'status-socket': text,
  'metrics-address': loopback,
  hostname: text,
  region: text,
  datacenter: text,
  'latency-targets': list,
  'latency-port': port,
  'gateway-port': port,
  'slurm-node-name': text,
  'storage-path': text,
  'host-root': text,
  'log-level': level,
}
type Key = keyof typeof KEYS
/** Settings of other agents of the field that their files may keep; the inventory has a node's place. */
const IGNORED = ['zone', 'rack', 'row', 'position']

export type Config = {
  configFile: string
  nodeId: string | undefined
  clusterId: string | undefined
  providerAddress: string | undefined
  apiUrl: string | undefined
  heartbeatInterval: number
  keyFile: string
  caFile: string | undefined
  tokenFile: string | undefined
  stateDir: string
  statusSocket: string
  metricsAddress: { host: string; port: number } | undefined
  hostname: string
  region: string | undefined
  datacenter: string | undefined
  latencyTargets: string[]
  latencyPort: number
  gatewayPort: number
  slurmNodeName: string
  storagePath: string
  hostRoot: string
  logLevel: Level
}

const DEFAULT_FILE = '/etc/muster/agent.yaml'
const FLAGS = {
  config: { type: 'string' },
  once: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

/** Reads settings from flags, environment and config file, in order of precedence. Throws ConfigError. */
export function readConfig(args: string[], env: NodeJS.ProcessEnv = process.env) {
  const options = Object.fromEntries(Object.keys(KEYS).map((key) => [key, { type: 'string' as const }]))
  const { values, positionals } = withConfigErrors(() =>
    parseArgs({ args, options: { ...options, ...FLAGS }, allowPositionals: true }),
  )
  const flags = values as Record<string, unknown>
  const configFile = (flags.config as string | undefined) ?? env.MUSTER_AGENT_CONFIG ?? DEFAULT_FILE
  const file = readFile(configFile, configFile === DEFAULT_FILE)
  const get = <K extends Key>(key: K): ReturnType<(typeof KEYS)[K]> | undefined => {
    const variable = `MUSTER_AGENT_${key.replaceAll('-', '_').toUpperCase()}`
    const sources = [
      [`--${key}`, flags[key]],
      [variable, env[variable]],
      [`\`${key}\` in ${configFile}`, file[key]],
    ] as const
    const [source, value] = sources.find(([, value]) => value !== undefined && value !== null && value !== '') ?? []
    if (source === undefined) return
    return withConfigErrors(() => KEYS[key](value) as ReturnType<(typeof KEYS)[K]>, source)
  }
  const hostname = get('hostname') ?? os.hostname()
  const config: Config = {
    configFile,
    nodeId: get('node-id'),
    clusterId: get('cluster-id'),
    providerAddress: get('provider-address'),
    apiUrl: get('api-url') ?? get('provider-daemon-url'),
    heartbeatInterval: Math.min(Math.max(get('heartbeat-interval') ?? 30_000, 1000), 3_600_000),
    keyFile: get('key-file') ?? '/etc/muster/agent.key',
    caFile: get('ca-file'),
    tokenFile: get('token-file'),
    stateDir: get('state-dir') ?? '/var/lib/muster-agent',
    statusSocket: get('status-socket') ?? '/run/muster-agent/status.sock',
    metricsAddress: get('metrics-address'),
    hostname,
    region: get('region'),
    datacenter: get('datacenter'),
    latencyTargets: get('latency-targets') ?? [],
    latencyPort: get('latency-port') ?? 22,
    gatewayPort: get('gateway-port') ?? 80,
    slurmNodeName: get('slurm-node-name') ?? hostname.split('.')[0]!,
    storagePath: get('storage-path') ?? '/',
    hostRoot: (get('host-root') ?? '').replace(/\/+$/, ''),
    logLevel: get('log-level') ?? 'info',
  }
  return { config, command: positionals, once: flags.once === true, json: flags.json === true, help: flags.help === true }
}

/** Settings required by `register` and `start`. Throws ConfigError for the first missing one. */
export function requireSettings(config: Config) {
  const { nodeId, clusterId, apiUrl } = config
  for (const [key, value] of Object.entries({ 'node-id': nodeId, 'cluster-id': clusterId, 'api-url': apiUrl }))
    if (!value) throw new ConfigError(`${key} is not set. Set it in ${config.configFile} or pass --${key}`)
  return { nodeId: nodeId!, clusterId: clusterId!, apiUrl: apiUrl! }
}

function readFile(file: string, isOptional: boolean): Record<string, unknown> {
  let content: string
  try {
    content = fs.readFileSync(file, 'utf8')
  } catch (error) {
    if (isOptional && (error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new ConfigError(`cannot read ${file}: ${(error as Error).message}`)
  }
  const found = withConfigErrors(() => parse(content) ?? {}, file)
  if (typeof found !== 'object' || Array.isArray(found)) throw new ConfigError(`${file} must be a mapping of settings`)
  const unknown = Object.keys(found).find((key) => !(key in KEYS) && !IGNORED.includes(key))
  if (unknown)
    throw new ConfigError(`${file}: unknown setting \`${unknown}\`. Supported settings: ${Object.keys(KEYS).join(', ')}`)
  return found
}

function withConfigErrors<T>(read: () => T, source?: string): T {
  try {
    return read()
  } catch (error) {
    throw new ConfigError([source, (error as Error).message.split('\n')[0]].filter(Boolean).join(' '))
  }
}

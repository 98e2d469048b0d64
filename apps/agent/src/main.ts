import fs from 'node:fs'
import { readKeyFile, writeKeyFile } from '@muster/protocol/agent'
import { Agent } from './agent.ts'
import { createApiClient } from './api-client.ts'
import { createCollector, type Measurements } from './collect/index.ts'
import { type Config, ConfigError, readConfig, requireSettings } from './config.ts'
import { createLogger } from './log.ts'
import { register } from './register.ts'
import { fetchStatus, type Status, serveStatus } from './status.ts'
import { VERSION } from './version.ts'

const HELP = `muster-agent reports the health and capacity of this node to Muster.

Usage: muster-agent COMMAND [OPTIONS]

Commands:
  init        create the key of this node and print its public key
  register    register this node with the API (exit code 3: approval pending)
  start       send heartbeats until stopped (--once: send one heartbeat)
  status      show the status of the running agent (--json)
  version     show the version

Settings are read from /etc/muster/agent.yaml (--config FILE). Each setting is also a flag (--node-id NAME) and an
environment variable (MUSTER_AGENT_NODE_ID). --token-file FILE contains the one-time token; use - for standard input.
`

const COMMANDS: Record<string, (config: Config, flags: { once: boolean; json: boolean }) => number | Promise<number>> = {
  init: (config) => {
    const { publicKey } = writeKeyFile(config.keyFile)
    process.stdout.write(`${publicKey.base64}\n`)
    return 0
  },
  register: async (config) => {
    const { registerNode, collect } = createContext(config, new AbortController().signal)
    const result = await registerNode(await collect())
    if (result.accepted) process.stdout.write(`${config.nodeId} is registered\n`)
    else process.stderr.write(`muster-agent: ${result.code}: ${result.message}\n`)
    return result.accepted ? 0 : result.code === 'approval_pending' ? 3 : 1
  },
  start: async (config, { once }) => {
    const stop = new AbortController()
    const { names, identity, api, registerNode, collect, log } = createContext(config, stop.signal)
    const agent = new Agent({
      ...names,
      stateDir: config.stateDir,
      interval: config.heartbeatInterval,
      initialDelay: 1000,
      version: VERSION,
      identity,
      api,
      log,
      collect,
      register: registerNode,
    })
    if (once) return (await agent.once()) ? 0 : 1
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
    const addresses = [{ path: config.statusSocket }, ...(config.metricsAddress ? [config.metricsAddress] : [])]
    // Heartbeats matter more than the local status: continue without it.
    const servers = await Promise.all(
      addresses.map((address) =>
        serveStatus(() => agent.status(), address).catch(
          (error: Error) => void log.warn(`cannot serve the status: ${error.message}`),
        ),
      ),
    )
    log.info(`muster-agent ${VERSION} started: node ${names.nodeId}, cluster ${names.clusterId}, API ${names.apiUrl}`)
    await agent.run(stop.signal)
    for (const server of servers) server?.close()
    return 0
  },
  status: async (config, { json }) => {
    const status = await fetchStatus(config.statusSocket)
    if (!status) {
      process.stderr.write(
        `muster-agent: no agent responds at ${config.statusSocket}. Start it with: systemctl start muster-agent\n`,
      )
      return 1
    }
    const { last_error, problems, metrics, ...rest } = status
    const rows = {
      ...rest,
      problems: problems.join('; ') || 'none',
      last_error: last_error ? `${last_error.at} ${last_error.code}: ${last_error.message}` : 'none',
      ...flattenMetrics(metrics),
    }
    process.stdout.write(
      json
        ? `${JSON.stringify(status)}\n`
        : Object.entries(rows)
            .map(([name, value]) => `${name.padEnd(31)} ${value ?? '-'}\n`)
            .join(''),
    )
    return 0
  },
  version: () => {
    process.stdout.write(`muster-agent ${VERSION}\n`)
    return 0
  },
}

/** Scalar metrics by name, and lists as text. */
function flattenMetrics(metrics: Status['metrics']): Record<string, unknown> {
  const { status, reasons, ...health } = metrics?.health ?? {}
  const sections = { ...metrics?.capacity, ...health, ...metrics?.latency, ...metrics?.jobs, ...metrics?.services }
  const scalars = Object.entries(sections).filter(([, value]) => typeof value !== 'object' || value === null)
  return { ...(reasons?.length ? { reasons: reasons.join('; ') } : {}), ...Object.fromEntries(scalars) }
}

/** Dependencies shared by `register` and `start`. */
function createContext(config: Config, stop: AbortSignal) {
  const names = requireSettings(config)
  const log = createLogger(config.logLevel)
  if (names.apiUrl.startsWith('http:') && !/^http:\/\/(localhost|127\.|\[::1\])/.test(names.apiUrl))
    log.warn(`${names.apiUrl} is not HTTPS: heartbeats are signed, but others on the network can read and block them`)
  const identity = readKeyFile(config.keyFile)
  const api = createApiClient(names.apiUrl, config.caFile, VERSION, stop)
  const collect = createCollector(config, names.clusterId)
  // The token file is read at each registration, because deployment tools create and delete it.
  const registerNode = (measurements: Measurements) =>
    register(api, config, names, identity, measurements, VERSION, readToken(config.tokenFile))
  return { names, log, identity, api, collect, registerNode }
}

function readToken(file: string | undefined): string | undefined {
  if (!file || (file !== '-' && !fs.existsSync(file))) return
  return fs.readFileSync(file === '-' ? 0 : file, 'utf8').trim() || undefined
}

async function main(args: string[]): Promise<number> {
  const { config, command, help, ...flags } = readConfig(args)
  const run = command.length === 1 ? COMMANDS[command[0]!] : undefined
  if (!run || help) {
    ;(help ? process.stdout : process.stderr).write(HELP)
    return help ? 0 : 2
  }
  return await run(config, flags)
}

// A top-level await would prevent ahead-of-time compilation.
main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  (error: Error) => {
    process.stderr.write(`muster-agent: ${error.message}\n`)
    process.exitCode = error instanceof ConfigError ? 2 : 1
  },
)

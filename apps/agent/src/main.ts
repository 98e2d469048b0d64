import fs from 'node:fs'
import { readKeyFile, writeKeyFile } from '@muster/protocol/light'
import { Agent } from './agent.ts'
import { api } from './api.ts'
import { collector } from './collect/index.ts'
import { type Config, ConfigError, readConfig, required } from './config.ts'
import { logger } from './log.ts'
import { register } from './register.ts'
import { askStatus, serveStatus } from './status.ts'
import { VERSION } from './version.ts'

const HELP = `muster-agent tells Muster how this node is.

  muster-agent init       make the key of this node and print its public half
  muster-agent register   tell the API of this node (exit code 3: a person has to approve it)
  muster-agent start      beat until it is stopped (--once: a single time)
  muster-agent status     ask the running agent (--json)
  muster-agent version

Settings stand in /etc/muster/agent.yaml (--config FILE); each can be given as a flag (--node-id NAME) or as a variable
(MUSTER_AGENT_NODE_ID). A one-time token is read from --token-file FILE, where - means standard input.
`

const COMMANDS: Record<string, (config: Config, flags: { once: boolean; json: boolean }) => number | Promise<number>> = {
  init: (config) => {
    const { publicKey } = writeKeyFile(config.keyFile)
    process.stdout.write(`${publicKey.base64}\n`)
    return 0
  },
  register: async (config) => {
    const { tell, measure } = world(config, new AbortController().signal)
    const answer = await tell(await measure())
    if (answer.accepted) process.stdout.write(`${config.nodeId} is registered\n`)
    else process.stderr.write(`muster-agent: ${answer.code}: ${answer.message}\n`)
    return answer.accepted ? 0 : answer.code === 'approval_pending' ? 3 : 1
  },
  start: async (config, { once }) => {
    const stop = new AbortController()
    const { names, identity, send, tell, measure, log } = world(config, stop.signal)
    const { stateDir, heartbeatInterval: interval } = config
    const settle = 1000
    const agent = new Agent({
      ...names,
      stateDir,
      interval,
      settle,
      version: VERSION,
      identity,
      api: send,
      log,
      collect: measure,
      register: tell,
    })
    if (once) return (await agent.once()) ? 0 : 1
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
    const places = [{ path: config.statusSocket }, ...(config.metricsAddress ? [config.metricsAddress] : [])]
    const status = () => agent.status()
    // An agent that cannot tell its status here still has to tell the API.
    const servers = await Promise.all(
      places.map((at) => serveStatus(status, at).catch((error: Error) => void log.warn(`no status: ${error.message}`))),
    )
    log.info(`muster-agent ${VERSION} is ${names.nodeId} of ${names.clusterId}, beating to ${names.apiUrl}`)
    await agent.run(stop.signal)
    for (const server of servers) server?.close()
    return 0
  },
  status: async (config, { json }) => {
    const status = await askStatus(config.statusSocket)
    if (!status) {
      process.stderr.write(`muster-agent: no agent answers at ${config.statusSocket}; is it started?\n`)
      return 1
    }
    const { last_error, problems, ...rest } = status
    const rows = {
      ...rest,
      problems: problems.join('; ') || 'none',
      last_error: last_error ? `${last_error.at} ${last_error.code}: ${last_error.message}` : 'none',
    }
    process.stdout.write(
      json
        ? `${JSON.stringify(status)}\n`
        : Object.entries(rows)
            .map(([name, value]) => `${name.padEnd(20)} ${value ?? '-'}\n`)
            .join(''),
    )
    return 0
  },
  version: () => {
    process.stdout.write(`muster-agent ${VERSION}\n`)
    return 0
  },
}

/** What register and start need: the key, the way to the API, and eyes. */
function world(config: Config, stop: AbortSignal) {
  const names = required(config)
  const log = logger(config.logLevel)
  if (names.apiUrl.startsWith('http:') && !/^http:\/\/(localhost|127\.|\[::1\])/.test(names.apiUrl))
    log.warn(`${names.apiUrl} is not HTTPS: beats are signed, but anybody on the way can read and withhold them`)
  const identity = readKeyFile(config.keyFile)
  const send = api(names.apiUrl, config.caFile, VERSION, stop)
  // Read anew each time: the file is put there and taken away by whoever enrols the node.
  const token = () =>
    config.tokenFile && (config.tokenFile === '-' || fs.existsSync(config.tokenFile)) ? readToken(config.tokenFile) : undefined
  const measure = collector(config, names.clusterId)
  const tell = async (measured: Awaited<ReturnType<typeof measure>>) =>
    register(send, config, names, identity, measured, VERSION, token())
  return { names, log, identity, send, measure, tell }
}

const readToken = (file: string) => fs.readFileSync(file === '-' ? 0 : file, 'utf8').trim() || undefined

async function main(args: string[]): Promise<number> {
  const { config, command, help, ...flags } = readConfig(args)
  const run = command.length === 1 ? COMMANDS[command[0]!] : undefined
  if (!run || help) {
    ;(help ? process.stdout : process.stderr).write(HELP)
    return help ? 0 : 2
  }
  return await run(config, flags)
}

// No await out here: it would keep the build from compiling ahead of time.
main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code
  },
  (error: Error) => {
    process.stderr.write(`muster-agent: ${error.message}\n`)
    process.exitCode = error instanceof ConfigError ? 2 : 1
  },
)

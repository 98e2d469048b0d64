import { spawn } from 'node:child_process'
import path from 'node:path'
import { createFront } from './front-proxy.ts'
import { nodeArguments } from './node-arguments.ts'
import { pickPort } from './ports.ts'
import { root } from './root.ts'

// The one address that people open, in `npm start` and in docker compose: paths of the API go there, all others to the console's
// server, which this process starts on a port of its own. Next's rewrites could do it too, but they fix their target when the console
// is built, and here ports are chosen when it starts.
// HOST and PORT: where to listen. API_URL: where the API is. CONSOLE_DEV=1: Next's development server. TRUST_PROXY=1: see createFront.
const { HOST = '127.0.0.1', PORT = '3000', API_URL = 'http://127.0.0.1:4000', CONSOLE_DEV, TRUST_PROXY } = process.env
const consoleDir = path.join(root, 'apps/console')
const consolePort = await pickPort()
let stopping = false

const nextServer = spawn(process.execPath, nodeArguments(CONSOLE_DEV ? developmentServer() : builtServer()), {
  cwd: consoleDir,
  env: {
    ...process.env,
    PORT: String(consolePort),
    HOSTNAME: '127.0.0.1',
    NODE_ENV: CONSOLE_DEV ? 'development' : 'production',
    MUSTER_API_URL: API_URL,
  },
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
})
nextServer.once('exit', (code, signal) => {
  if (!stopping) log('error', `the console's server ended (${signal ?? `exit code ${code}`})`)
  process.exit(stopping ? 0 : 1)
})

const server = createFront({ api: API_URL, console: `http://127.0.0.1:${consolePort}` }, { trustProxy: TRUST_PROXY === '1' })
server.listen(Number(PORT), HOST, () => log('info', `listening on http://${HOST}:${PORT}`))
server.once('error', (error) => {
  log('error', `cannot listen on ${HOST}:${PORT}: ${error.message}`)
  nextServer.kill('SIGKILL')
})

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    stopping = true
    server.close()
    server.closeAllConnections()
    nextServer.kill('SIGTERM')
    setTimeout(() => nextServer.kill('SIGKILL'), 5_000).unref()
  })
}

function developmentServer(): string[] {
  return ['node_modules/next/dist/bin/next', 'dev', '--hostname', '127.0.0.1', '--port', String(consolePort)]
}

function builtServer(): string[] {
  return ['.next/standalone/apps/console/server.js']
}

function log(level: 'info' | 'error', msg: string): void {
  process.stdout.write(`${JSON.stringify({ level, time: new Date().toISOString(), process: 'console', msg })}\n`)
}

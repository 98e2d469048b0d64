import { spawn } from 'node:child_process'
import https from 'node:https'
import path from 'node:path'
import { readProxySecret } from '@muster/core/proxy-secret'
import { nodeArguments } from './node-child.ts'
import { pickPort } from './ports.ts'
import { createReverseProxy } from './reverse-proxy.ts'
import { root } from './root.ts'
import { followCertificate, readCertificate } from './tls/serve-certificate.ts'
import { transportIssue } from './tls/transport-issue.ts'

// Serves the public address in `npm start` and in docker compose: starts Next's server on a local port, and a reverse proxy in front
// of it and the API. Next's own rewrites cannot replace it: their target is fixed at build time, and the ports are chosen at start.
// HOST, PORT: listen address. API_URL: upstream API. CONSOLE_DEV=1: Next's development server. TRUST_PROXY=1, PROXY_SECRET_FILE:
// see createReverseProxy. MUSTER_PUBLIC_URL: address in browsers. TLS_CERT_FILE, TLS_KEY_FILE: PEM files; without them, plain HTTP. PUBLISHED_ADDRESS: the
// address of the machine to which the port of the container is bound.
const { HOST = '127.0.0.1', PORT = '3000', API_URL = 'http://127.0.0.1:4000', CONSOLE_DEV, TRUST_PROXY } = process.env
const { MUSTER_PUBLIC_URL, TLS_CERT_FILE, TLS_KEY_FILE, PUBLISHED_ADDRESS, PROXY_SECRET_FILE } = process.env
const issue = transportIssue({
  files: { certFile: TLS_CERT_FILE, keyFile: TLS_KEY_FILE },
  address: PUBLISHED_ADDRESS ? { setting: 'BIND_ADDRESS', value: PUBLISHED_ADDRESS } : { setting: 'HOST', value: HOST },
  trustProxy: TRUST_PROXY === '1',
  publicUrl: MUSTER_PUBLIC_URL,
})
if (issue) {
  log('error', issue)
  process.exit(1)
}
// Read before the Next server starts: an unusable certificate ends the start at once.
const files = TLS_CERT_FILE && TLS_KEY_FILE ? { certFile: TLS_CERT_FILE, keyFile: TLS_KEY_FILE } : null
const tls = files && readCertificate(files)
const proxySecret = PROXY_SECRET_FILE ? readProxySecret(PROXY_SECRET_FILE) : null
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
  if (!stopping) log('error', `the Next server exited (${signal ?? `exit code ${code}`})`)
  process.exit(stopping ? 0 : 1)
})

const server = createReverseProxy(
  { api: API_URL, console: `http://127.0.0.1:${consolePort}` },
  { tls, trustProxy: TRUST_PROXY === '1', proxySecret, publicUrl: MUSTER_PUBLIC_URL, isDevelopment: Boolean(CONSOLE_DEV) },
)
if (files && server instanceof https.Server) followCertificate(server, files, () => log('info', 'uses the renewed certificate'))
server.listen(Number(PORT), HOST, () => log('info', `listening on http${tls ? 's' : ''}://${HOST}:${PORT}`))
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

import { spawn } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export type GitServer = { url: string; port: number; authorizations: string[]; close(): Promise<void> }

/** Serves the repositories below `root` with `git http-backend` (CGI/1.1) and basic auth, if there is a login. Records received Authorization headers. */
export async function serveGit(root: string, login: { username: string; password: string } | null): Promise<GitServer> {
  const authorizations: string[] = []
  const expectedHeader = login && `Basic ${Buffer.from(`${login.username}:${login.password}`).toString('base64')}`
  const server: Server = createServer((request, response) => {
    const { authorization } = request.headers
    if (authorization) authorizations.push(authorization)
    if (expectedHeader && authorization !== expectedHeader) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
      return
    }
    const { pathname, search } = new URL(request.url!, 'http://git')
    const git = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: '*',
        PATH_INFO: pathname,
        QUERY_STRING: search.slice(1),
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        ...(login ? { REMOTE_USER: login.username } : {}),
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    request.pipe(git.stdin)
    const chunks: Buffer[] = []
    git.stdout.on('data', (chunk) => chunks.push(chunk))
    git.on('close', () => {
      const all = Buffer.concat(chunks)
      const end = all.indexOf('\r\n\r\n')
      const headers = all
        .subarray(0, end)
        .toString()
        .split('\r\n')
        .map((line) => line.split(': ', 2) as [string, string])
      const status = Number(headers.find(([name]) => name === 'Status')?.[1].slice(0, 3) ?? 200)
      response.writeHead(status, Object.fromEntries(headers)).end(all.subarray(end + 4))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    authorizations,
    close: () => new Promise((resolve) => server.close(() => resolve()).closeAllConnections()),
  }
}

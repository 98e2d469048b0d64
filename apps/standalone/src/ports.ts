import net from 'node:net'

/**
 * A TCP port that is free on `host` right now: the first free one of `preferred`, `preferred + 1`, … (50 tries), or any free one
 * when `preferred` is 0. Nothing holds it for the caller, who binds it at once and tries again when somebody was faster.
 */
export async function pickPort(preferred = 0, host = '127.0.0.1'): Promise<number> {
  if (preferred === 0) return (await tryPort(0, host)) as number
  for (let port = preferred; port < preferred + 50 && port < 65536; port++) {
    if (await tryPort(port, host)) return port
  }
  throw new Error(
    `No free port between ${preferred} and ${Math.min(preferred + 49, 65535)} on ${host}. Choose another with --port.`,
  )
}

function tryPort(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = net.createServer()
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(undefined) : reject(error),
    )
    server.listen({ port, host, exclusive: true }, () => {
      const { port: bound } = server.address() as net.AddressInfo
      server.close(() => resolve(bound))
    })
  })
}

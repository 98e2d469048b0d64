import net from 'node:net'

/** A TCP port that no other process can bind until it is released. */
export type ReservedPort = { port: number; release: () => Promise<void> }

/**
 * Reserves the first free port from `preferred` (50 attempts) on `host`, or any free port when `preferred` is 0.
 * The caller releases it just before binding it.
 */
export async function reservePort(preferred = 0, host = '127.0.0.1'): Promise<ReservedPort> {
  const last = preferred === 0 ? 0 : Math.min(preferred + 49, 65535)
  for (let port = preferred; port <= last; port++) {
    const reserved = await tryPort(port, host)
    if (reserved) return reserved
  }
  throw new Error(`No free port between ${preferred} and ${last} on ${host}. Choose another with --port.`)
}

/** Returns a port that is free now. Nothing reserves it: the caller must handle losing it to another process. */
export async function pickPort(preferred = 0, host = '127.0.0.1'): Promise<number> {
  const { port, release } = await reservePort(preferred, host)
  await release()
  return port
}

function tryPort(port: number, host: string): Promise<ReservedPort | undefined> {
  return new Promise((resolve, reject) => {
    const server = net.createServer((socket) => socket.destroy())
    server.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'EADDRINUSE' || error.code === 'EACCES' ? resolve(undefined) : reject(error),
    )
    server.listen({ port, host, exclusive: true }, () => {
      const { port: bound } = server.address() as net.AddressInfo
      resolve({ port: bound, release: () => new Promise((released) => server.close(() => released())) })
    })
  })
}

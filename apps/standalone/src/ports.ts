import net from 'node:net'

/** A TCP port that nobody else can take until it is released. */
export type HeldPort = { port: number; release: () => Promise<void> }

/**
 * Holds the first free port of `preferred`, `preferred + 1`, … (50 tries) on `host`, or any free one when `preferred` is 0. Whoever
 * asks for it meanwhile is turned away; the caller releases it when it binds it itself.
 */
export async function holdPort(preferred = 0, host = '127.0.0.1'): Promise<HeldPort> {
  const last = preferred === 0 ? 0 : Math.min(preferred + 49, 65535)
  for (let port = preferred; port <= last; port++) {
    const held = await tryPort(port, host)
    if (held) return held
  }
  throw new Error(`No free port between ${preferred} and ${last} on ${host}. Choose another with --port.`)
}

/** A port that is free right now. Nothing holds it for the caller, who binds it at once and tries again when somebody was faster. */
export async function pickPort(preferred = 0, host = '127.0.0.1'): Promise<number> {
  const { port, release } = await holdPort(preferred, host)
  await release()
  return port
}

function tryPort(port: number, host: string): Promise<HeldPort | undefined> {
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

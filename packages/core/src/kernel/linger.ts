import { Socket } from 'node:net'

const LINGER_MS = 10_000

/** A request of Node's HTTP server. */
type Request = { readonly socket: Socket; readonly complete: boolean; resume(): unknown }

/**
 * Lets the client receive a response that ends before the body of its request, such as one with status 413, when the connection closes
 * after it. A socket that is closed while data arrives is reset, and the client loses what it has not read. Instead, the rest of the
 * body is discarded until the client ends, for at most 10 s.
 */
export function lingerOnClose(req: Request): void {
  const { socket } = req
  // Node calls this at the end of the last response of a connection.
  socket.destroySoon = () => {
    if (req.complete) return Socket.prototype.destroySoon.call(socket)
    const timeout = setTimeout(() => socket.destroy(), LINGER_MS)
    socket.once('close', () => clearTimeout(timeout))
    socket.end()
    req.resume()
  }
}

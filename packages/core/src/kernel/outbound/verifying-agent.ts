import { Agent } from 'node:https'
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls'
import { certificateProblem } from './certificate-problem.ts'
import { RequestError } from './send-request.ts'

/**
 * Which certificate of a server is accepted: the one with this SHA-256 fingerprint (64 hex digits), or one of these authorities (PEM). Both
 * null: one of the authorities that the process trusts.
 */
export type CertificatePolicy = { fingerprint: string | null; caCertificate: string | null }

/**
 * An agent that keeps one connection to a server open between requests. Nothing is sent before the server has presented an accepted
 * certificate: Node checks authorities, but cannot pin a certificate before it sends a request. Call `destroy` at the end.
 * Requests fail with RequestError, which has the fingerprint of a rejected certificate.
 */
export function createVerifyingAgent({ fingerprint, caCertificate }: CertificatePolicy, nextStep: string): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, maxCachedSessions: 0 })
  const problemOf = (socket: TLSSocket): RequestError | null => {
    const presented = socket.getPeerCertificate().fingerprint256?.replaceAll(':', '').toLowerCase() ?? null
    if (fingerprint !== null)
      return presented === fingerprint
        ? null
        : new RequestError('certificate', `presents another certificate than the pinned one; ${nextStep}`, presented)
    if (socket.authorized) return null
    const reason: unknown = socket.authorizationError
    const code = typeof reason === 'string' ? reason : ((reason as NodeJS.ErrnoException | null)?.code ?? '')
    const message = certificateProblem({ code, message: 'certificate' }, 'its CA') ?? 'presents an untrusted certificate'
    return new RequestError('certificate', `${message}, or ${nextStep}`, presented)
  }
  agent.createConnection = (options, callback) => {
    const { host, servername } = options as ConnectionOptions
    const socket = connect({
      ...(options as ConnectionOptions),
      ...(caCertificate === null ? {} : { ca: caCertificate }),
      ...(servername ? { servername } : {}),
      ...(host ? { host } : {}),
      rejectUnauthorized: false,
    })
    const onError = (error: Error) => callback?.(error, socket)
    socket.once('error', onError)
    socket.once('secureConnect', () => {
      socket.off('error', onError)
      const problem = problemOf(socket)
      if (!problem) return callback?.(null, socket)
      socket.on('error', () => {})
      socket.destroy()
      callback?.(problem, socket)
    })
    // The caller gets the socket only through the callback, after the check.
    return undefined
  }
  return agent
}

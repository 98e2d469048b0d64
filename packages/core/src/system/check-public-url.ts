import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { Observation } from '../kernel/finding.ts'

const TIMEOUT_MS = 5_000
const DAY_MS = 86_400_000

/** Checks that users reach the console over TLS, with a valid certificate. */
export async function checkPublicUrl(publicUrl: string, now = Date.now()): Promise<Observation> {
  const { protocol, hostname, port } = new URL(publicUrl)
  const host = hostname.replace(/^\[|\]$/g, '')
  const finding = (severity: Observation['severity'], message: string, nextStep: string | null): Observation => ({
    check: 'PUBLIC_URL',
    severity,
    message,
    nextStep,
  })
  if (protocol === 'http:') {
    if (host === 'localhost' || host === '::1' || host.startsWith('127.'))
      return finding('OK', `${publicUrl} is for this machine only.`, null)
    const nextStep =
      'Serve the console over https (npm start -- --tls, or a reverse proxy) and set MUSTER_PUBLIC_URL to that address.'
    return finding('ERROR', `${publicUrl} is not encrypted: passwords and session cookies can be read on the network.`, nextStep)
  }
  const certificate = await readCertificate(host, Number(port) || 443)
  if (typeof certificate === 'string')
    return finding(
      'WARNING',
      `${publicUrl} cannot be checked from this machine: ${certificate}.`,
      'Open the address in a browser, and correct MUSTER_PUBLIC_URL if it does not show Muster.',
    )
  const { validTo, problem } = certificate
  if (problem)
    return finding(
      'ERROR',
      `The certificate of ${publicUrl} is not valid: ${problem}.`,
      'Install a certificate for this host name that browsers trust.',
    )
  const days = Math.floor((validTo - now) / DAY_MS)
  if (days < 21) return finding('WARNING', `The certificate of ${publicUrl} expires in ${days} days.`, 'Renew the certificate.')
  return finding('OK', `${publicUrl} has a certificate that is valid for ${days} days.`, null)
}

/** Certificate of a server and why it is not trusted, or the reason why there is none. */
function readCertificate(host: string, port: number): Promise<{ validTo: number; problem: string | null } | string> {
  return new Promise((resolve) => {
    // The certificate is only inspected, so that an untrusted one can be described.
    const socket = connect(
      { host, port, servername: isIP(host) ? '' : host, rejectUnauthorized: false, timeout: TIMEOUT_MS },
      () => {
        const problem = socket.authorized ? null : String(socket.authorizationError)
        resolve({ validTo: Date.parse(socket.getPeerCertificate().valid_to), problem })
        socket.destroy()
      },
    )
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    socket.once('timeout', () => {
      resolve('no answer')
      socket.destroy()
    })
  })
}

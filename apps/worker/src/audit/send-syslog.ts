import { isIP } from 'node:net'
import { connect } from 'node:tls'
import type { AuditSink } from '@muster/core/audit-sinks'
import { certificateProblem, resolveTarget } from '@muster/core/outbound'
import { DeliveryError } from '../delivery/delivery-error.ts'
import type { Limits } from '../delivery/post.ts'
import { framed } from './syslog-message.ts'

/**
 * Sends messages over TLS and waits until the receiver has read all of them. Syslog has no acknowledgments, but a receiver must
 * respond to the end of the connection (RFC 5425, section 4.4), so each batch has its own connection. No library: those on npm keep
 * connections open and lose messages when the receiver ends.
 * @throws DeliveryError, TargetError
 */
export async function sendSyslog(
  { host = '', port = 0, caCertificate }: AuditSink['settings'],
  messages: string[],
  { localTargets, timeoutMs, signal }: Limits,
): Promise<void> {
  const receiver = `The syslog receiver ${host}:${port}`
  const [found] = await resolveTarget(host, port, localTargets)
  const ending = AbortSignal.timeout(timeoutMs)
  const stop = AbortSignal.any([signal, ending])
  await new Promise<void>((resolve, reject) => {
    const socket = connect({
      host: found!.address,
      port,
      ...(isIP(host) ? {} : { servername: host }),
      ...(caCertificate ? { ca: caCertificate } : {}),
      minVersion: 'TLSv1.2',
    })
    const onStop = () =>
      socket.destroy(
        new DeliveryError(
          signal.aborted ? String(signal.reason.message) : `${receiver} did not accept the entries within ${timeoutMs / 1000} s.`,
        ),
      )
    if (stop.aborted) onStop()
    else stop.addEventListener('abort', onStop, { once: true })
    socket.on('secureConnect', () => socket.end(messages.map(framed).join('')))
    // Receivers send nothing but the end.
    socket.resume()
    socket.on('error', (error) => reject(error instanceof DeliveryError ? error : deliveryError(receiver, error)))
    socket.on('close', () => {
      stop.removeEventListener('abort', onStop)
      if (socket.writableFinished && socket.readableEnded) resolve()
      else reject(new DeliveryError(`${receiver} closed the connection before it had read all entries.`))
    })
  })
}

function deliveryError(receiver: string, error: NodeJS.ErrnoException): DeliveryError {
  const { code, message } = error
  const problem = certificateProblem(error, "the sink's CA certificate")
  if (problem) return new DeliveryError(`${receiver} ${problem}.`)
  if (/^ERR_SSL/.test(code ?? '')) return new DeliveryError(`${receiver} does not speak TLS (${code}).`)
  return new DeliveryError(`${receiver} cannot be reached (${code ?? message}).`)
}

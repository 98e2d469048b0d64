import { isIP } from 'node:net'
import type { RouteSettings } from '@muster/core/alerts'
import { certificateProblem, resolveTarget } from '@muster/core/outbound'
import { createTransport } from 'nodemailer'
import { DeliveryError } from '../delivery/delivery-error.ts'
import type { Limits } from '../delivery/post.ts'
import { linesOf, type Message, messageTitle } from './message-text.ts'

/**
 * Sends an email through the route's mail server. The Message-ID is the delivery's ID, so that mail programs hide duplicates.
 * @throws DeliveryError
 */
export async function sendEmail(
  settings: RouteSettings,
  password: string | undefined,
  message: Message,
  { localTargets, timeoutMs, signal }: Limits,
): Promise<void> {
  const { host = '', port = 25, security, username, from = '', to = [] } = settings
  const [found] = await resolveTarget(host, port, localTargets)
  const transport = createTransport({
    host: found!.address,
    port,
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    tls: isIP(host) ? {} : { servername: host },
    ...(username ? { auth: { user: username, pass: password ?? '' } } : {}),
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  try {
    await transport.sendMail({
      from,
      to,
      subject: `[Muster ${message.tenantName}] ${messageTitle(message)}`,
      text: `${[messageTitle(message), '', ...linesOf(message, 200), '', message.link].join('\n')}\n`,
      messageId: `<${message.delivery.id}@${from.split('@')[1]}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
  } catch (error) {
    throw deliveryError(`The mail server ${host}:${port}`, error as SmtpError, timeoutMs)
  }
}

type SmtpError = Error & { code?: string; responseCode?: number; cause?: Error }

function deliveryError(server: string, { code, responseCode, message, cause }: SmtpError, timeoutMs: number): DeliveryError {
  if (cause?.name === 'TimeoutError') return new DeliveryError(`${server} did not accept the email within ${timeoutMs / 1000} s.`)
  if (code === 'EABORT') return new DeliveryError(cause?.message ?? message)
  if (code === 'EAUTH') return new DeliveryError(`${server} rejects the username or password (${responseCode}).`)
  if (code === 'ETLS') return new DeliveryError(`${server} offers no TLS.`)
  // nodemailer reports every connection fault as ESOCKET.
  const problem = certificateProblem({ message }, 'its CA in NODE_EXTRA_CA_CERTS of the worker')
  if (problem) return new DeliveryError(`${server} ${problem}.`)
  if (responseCode) return new DeliveryError(`${server} responds with ${responseCode}.`, { isFinal: responseCode >= 500 })
  return new DeliveryError(`${server} cannot be reached (${code ?? message}).`)
}

import { isIP } from 'node:net'
import type { RouteSettings } from '@muster/core/alerts'
import { createTransport } from 'nodemailer'
import { NotSent } from './failure.ts'
import type { Limits } from './post.ts'
import { addressesOf } from './reach.ts'
import { linesOf, type Message, titleOf } from './wording.ts'

/**
 * Hand a mail to the route's mail server. Its Message-ID is the delivery's id, so that mail programs show one that came twice once.
 * @throws NotSent
 */
export async function sendMail(
  settings: RouteSettings,
  password: string | undefined,
  message: Message,
  { allowLocal, timeoutMs, signal }: Limits,
): Promise<void> {
  const { host = '', port = 25, security, username, from = '', to = [] } = settings
  const [found] = await addressesOf(host, allowLocal)
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
      subject: `[Muster ${message.tenantName}] ${titleOf(message)}`,
      text: `${[titleOf(message), '', ...linesOf(message, 200), '', message.link].join('\n')}\n`,
      messageId: `<${message.delivery.id}@${from.split('@')[1]}>`,
      headers: { 'Auto-Submitted': 'auto-generated' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    })
  } catch (error) {
    throw whyNot(`The mail server ${host}:${port}`, error as SmtpError, timeoutMs)
  }
}

type SmtpError = Error & { code?: string; responseCode?: number; cause?: Error }

function whyNot(server: string, { code, responseCode, message, cause }: SmtpError, timeoutMs: number): NotSent {
  if (cause?.name === 'TimeoutError') return new NotSent(`${server} did not take the mail within ${timeoutMs / 1000} s.`)
  if (code === 'EABORT') return new NotSent(cause?.message ?? message)
  if (code === 'EAUTH') return new NotSent(`${server} refuses the username or its password (${responseCode}).`)
  if (code === 'ETLS') return new NotSent(`${server} offers no TLS.`)
  // nodemailer says ESOCKET of every fault of a connection.
  if (/certificate|altname/i.test(message))
    return new NotSent(`${server} shows a certificate that is not trusted; give the worker its authority in NODE_EXTRA_CA_CERTS.`)
  if (responseCode) return new NotSent(`${server} answers with ${responseCode}.`, { isFinal: responseCode >= 500 })
  return new NotSent(`${server} cannot be reached (${code ?? message}).`)
}

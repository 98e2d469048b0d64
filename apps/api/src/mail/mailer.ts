import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { mailSettings } from '@muster/core/access'
import type { Config } from '@muster/core/config'
import { Unavailable } from '@muster/core/errors'
import { certificateProblem } from '@muster/core/outbound'
import type { Observation } from '@muster/core/system'
import { createTransport } from 'nodemailer'

const TIMEOUT_MS = 10_000

/** A mail to one person. The text may contain a secret link. */
export type Mail = { to: string; subject: string; text: string }

/** Sends mail; `send` throws Unavailable with the reason, which quotes neither the mail nor the server. */
export type Mailer = {
  send(mail: Mail): Promise<void>
  /** Connects and logs in to the server. */
  check(): Promise<Observation>
}

/**
 * The mailer of this installation; null when it sends no email. Emails contain secret links, so they are encrypted on the way to
 * the server, unless SMTP_URL starts with smtp+plain.
 * @throws Error when the file with the password cannot be read
 */
export function createMailer(
  { SMTP_URL, SMTP_PASSWORD_FILE, MAIL_FROM }: Config<typeof mailSettings>,
  publicUrl: string,
): Mailer | null {
  if (!SMTP_URL) return null
  const { protocol, hostname, port, username } = new URL(SMTP_URL)
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const from = MAIL_FROM ?? `muster@${new URL(publicUrl).hostname}`
  const transport = createTransport({
    host,
    port: Number(port) || (protocol === 'smtps:' ? 465 : 587),
    secure: protocol === 'smtps:',
    requireTLS: protocol === 'smtp:',
    ignoreTLS: protocol === 'smtp+plain:',
    tls: isIP(host) ? {} : { servername: host },
    ...(username ? { auth: { user: decodeURIComponent(username), pass: readPassword(SMTP_PASSWORD_FILE) } } : {}),
    connectionTimeout: TIMEOUT_MS,
    socketTimeout: TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  return {
    async send({ to, subject, text }) {
      try {
        // An object, because nodemailer parses a string and would send to several addresses.
        await transport.sendMail({
          from: { name: 'Muster', address: from },
          to: { name: '', address: to },
          subject,
          text,
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.timeout(TIMEOUT_MS),
        })
      } catch (error) {
        throw new Unavailable(`The email could not be sent: ${reasonOf(error as SmtpError, host)}`)
      }
    },
    async check() {
      try {
        await transport.verify()
        return { check: 'MAIL', severity: 'OK', message: `The mail server ${host} accepts mail.`, nextStep: null }
      } catch (error) {
        const message = `No email can be sent: ${reasonOf(error as SmtpError, host)}`
        return {
          check: 'MAIL',
          severity: 'ERROR',
          message,
          nextStep: 'Correct SMTP_URL and SMTP_PASSWORD_FILE, then restart the API.',
        }
      }
    },
  }
}

type SmtpError = Error & { code?: string; responseCode?: number; cause?: Error }

function reasonOf({ code, responseCode, message, cause }: SmtpError, host: string): string {
  if (cause?.name === 'TimeoutError') return `the mail server did not accept it within ${TIMEOUT_MS / 1000} s.`
  if (code === 'EAUTH') return 'the mail server rejects the user name or password. Check SMTP_URL and SMTP_PASSWORD_FILE.'
  if (code === 'ETLS') return 'the mail server offers no TLS. Check SMTP_URL.'
  const problem = certificateProblem({ message }, 'its CA in NODE_EXTRA_CA_CERTS of the API')
  if (problem) return `the mail server ${host} ${problem}.`
  if (responseCode) return `the mail server responds with ${responseCode}.`
  return `the mail server cannot be reached (${code ?? 'unknown error'}). Check SMTP_URL.`
}

function readPassword(file: string | undefined): string {
  if (!file) return ''
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new Error(`SMTP_PASSWORD_FILE names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
}

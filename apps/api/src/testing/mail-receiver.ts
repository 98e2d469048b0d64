import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A mail server that records what it accepts. Without options it offers no TLS and no login. */
export async function createMailReceiver(options: SMTPServerOptions = {}) {
  const mails: { to: string[]; text: string; isSecure: boolean; user: unknown }[] = []
  const server = new SMTPServer({
    authOptional: true,
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        // Undoes the line breaks and escapes of quoted-printable.
        const text = Buffer.concat(chunks).toString('utf8').replaceAll('=\r\n', '').replaceAll('=3D', '=')
        mails.push({
          to: session.envelope.rcptTo.map(({ address }) => address),
          text,
          isSecure: session.secure,
          user: session.user,
        })
        done()
      })
    },
    ...options,
  })
  // Clients that do not trust the certificate disconnect.
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    mails,
    port: (server.server.address() as AddressInfo).port,
    stop: () => new Promise<void>((resolve) => server.close(resolve)),
  }
}

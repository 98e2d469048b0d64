import { createHmac } from 'node:crypto'
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

export type ReceivedRequest = { path: string; query: URLSearchParams; headers: IncomingHttpHeaders; body: string }
/** A receiver's response: a status, or a body with status 200. `never`: it does not respond. */
export type ReceiverReply = { status?: number; headers?: Record<string, string>; body?: unknown } | 'never'

/** A webhook receiver on loopback that records its requests. */
export async function createWebhookReceiver(reply: (got: ReceivedRequest, count: number) => ReceiverReply) {
  const got: ReceivedRequest[] = []
  const server: Server = createServer((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk: Buffer) => chunks.push(chunk))
    req.on('end', () => {
      const { pathname: path, searchParams: query } = new URL(req.url!, 'http://x')
      const one = { path, query, headers: req.headers, body: Buffer.concat(chunks).toString('utf8') }
      got.push(one)
      const answer = reply(one, got.length)
      if (answer === 'never') return
      res.writeHead(answer.status ?? 200, answer.headers)
      res.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body ?? {}))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    got,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const hmac = (key: string, text: string) => createHmac('sha256', key).update(text)

/** Request checks of the real services: wrong signatures and formats are rejected as they reject them. */
export const VERIFIERS = {
  webhook: (secret: string) => (got: ReceivedRequest) => {
    const { 'x-muster-timestamp': timestamp, 'x-muster-signature': signature } = got.headers
    const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) < 300
    const isRight = signature === `sha256=${hmac(secret, `${timestamp}.${got.body}`).digest('hex')}`
    return { status: isFresh && isRight ? 200 : 401 }
  },
  slack: () => (got: ReceivedRequest) =>
    typeof JSON.parse(got.body).text === 'string' ? { body: 'ok' } : { status: 400, body: 'invalid_payload' },
  dingtalk: (secret: string) => (got: ReceivedRequest) => {
    const { msgtype, text } = JSON.parse(got.body)
    const timestamp = got.query.get('timestamp')
    const isSigned = got.query.get('sign') === hmac(secret, `${timestamp}\n${secret}`).digest('base64')
    const isFresh = Math.abs(Date.now() - Number(timestamp)) < 3_600_000
    if (!isSigned || !isFresh || !got.query.get('access_token')) return { body: { errcode: 310_000, errmsg: 'sign not match' } }
    return { body: msgtype === 'text' && text.content ? { errcode: 0, errmsg: 'ok' } : { errcode: 40_035, errmsg: 'bad' } }
  },
  feishu: (secret: string) => (got: ReceivedRequest) => {
    const { timestamp, sign, msg_type, content } = JSON.parse(got.body)
    const isFresh = Math.abs(Date.now() / 1000 - Number(timestamp)) < 3600
    if (sign !== hmac(`${timestamp}\n${secret}`, '').digest('base64') || !isFresh)
      return { body: { code: 19_021, msg: 'sign match fail or timestamp is not within one hour from current time' } }
    return { body: msg_type === 'text' && content.text ? { code: 0, msg: 'success' } : { code: 9499, msg: 'Bad Request' } }
  },
  wecom: () => (got: ReceivedRequest) => {
    const { msgtype, text } = JSON.parse(got.body)
    if (!got.query.get('key')) return { body: { errcode: 93_000, errmsg: 'invalid webhook url' } }
    const isRight = msgtype === 'text' && Buffer.byteLength(text.content) <= 2048
    return { body: isRight ? { errcode: 0, errmsg: 'ok' } : { errcode: 40_058, errmsg: 'text exceed max length' } }
  },
}

/** A mail server on loopback with a self-signed certificate that records its mails. */
export async function createMailReceiver(options: SMTPServerOptions = {}) {
  const mails: { from: string; to: string[]; text: string; user: unknown; isSecure: boolean }[] = []
  const server = new SMTPServer({
    authOptional: true,
    onData(stream, session, done) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const { mailFrom, rcptTo } = session.envelope
        const from = mailFrom ? mailFrom.address : ''
        const to = rcptTo.map(({ address }) => address)
        const text = Buffer.concat(chunks).toString('utf8')
        mails.push({ from, to, text, user: session.user, isSecure: session.secure })
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

import { createHmac } from 'node:crypto'
import type { RouteKind } from '@muster/core/alerts'
import { NotSent } from './failure.ts'
import type { Answer, Post } from './post.ts'
import { linesOf, type Message, titleOf } from './wording.ts'

type Secrets = { url: string; secret?: string }
type Hook = {
  request(message: Message, secrets: Secrets, now: Date): Post
  /** Chats answer 200 whatever happened, and say in the body what. Null: it was taken. */
  refusal?(body: Record<string, unknown>): string | null
}

const hmac = (key: string, text: string) => createHmac('sha256', key).update(text)

const json = (url: URL, body: unknown, headers: Record<string, string> = {}): Post => ({
  url,
  headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'Muster', ...headers },
  body: JSON.stringify(body),
})

/** Plain text everywhere: names of tenants and clusters are anybody's, and no sign in them may mean anything. */
const textOf = (message: Message): string =>
  [`[${message.tenantName}] ${titleOf(message)}`, ...linesOf(message), message.link].join('\n')

/** At most `most` bytes, whole characters. */
export function cut(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text
  const bytes = Buffer.from(text).subarray(0, most - Buffer.byteLength('…'))
  return `${new TextDecoder().decode(bytes).replace(/\ufffd+$/, '')}…`
}

const ofErrcode = (body: Record<string, unknown>) =>
  body.errcode === 0 ? null : `error ${body.errcode}: ${String(body.errmsg ?? '')}`

const HOOKS: Record<Exclude<RouteKind, 'email'>, Hook> = {
  // Ours: the whole, with an id that stays the same, signed over time and body.
  webhook: {
    request({ delivery, tenantName, link }, { url, secret }, now) {
      const { id, event, alerts, createdAt } = delivery
      const { body, ...rest } = json(new URL(url), { id, event, tenant: tenantName, createdAt, link, alerts })
      const timestamp = String(Math.floor(now.getTime() / 1000))
      return {
        ...rest,
        body,
        headers: {
          ...rest.headers,
          'x-muster-delivery': id,
          'x-muster-timestamp': timestamp,
          'x-muster-signature': `sha256=${hmac(secret!, `${timestamp}.${body}`).digest('hex')}`,
        },
      }
    },
  },
  // Incoming webhooks, as Mattermost and Rocket.Chat have them too: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
  slack: {
    request(message, { url }) {
      const text = textOf(message).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
      // A cluster that calls itself @all calls nobody.
      return json(new URL(url), { text: text.replaceAll('@', '@\u200b') })
    },
  },
  // Custom robots; the signature goes over "<ms>\n<secret>" with the secret as key: https://open.dingtalk.com/document/robots/custom-robot-access
  dingtalk: {
    request(message, { url, secret }, now) {
      const to = new URL(url)
      if (secret) {
        const timestamp = String(now.getTime())
        to.searchParams.set('timestamp', timestamp)
        to.searchParams.set('sign', hmac(secret, `${timestamp}\n${secret}`).digest('base64'))
      }
      return json(to, { msgtype: 'text', text: { content: cut(textOf(message), 18_000) } })
    },
    refusal: ofErrcode,
  },
  // Custom bots of Feishu and Lark; "<s>\n<secret>" is the key and nothing is signed with it: https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot
  feishu: {
    request(message, { url, secret }, now) {
      const timestamp = String(Math.floor(now.getTime() / 1000))
      const signed = secret ? { timestamp, sign: hmac(`${timestamp}\n${secret}`, '').digest('base64') } : {}
      return json(new URL(url), { ...signed, msg_type: 'text', content: { text: cut(textOf(message), 18_000) } })
    },
    refusal(body) {
      const code = body.code ?? body.StatusCode
      return code === 0 ? null : `error ${code}: ${String(body.msg ?? body.StatusMessage ?? '')}`
    },
  },
  // Group robots: no signature, the key is in the address; at most 2048 bytes: https://developer.work.weixin.qq.com/document/path/91770
  wecom: {
    request: (message, { url }) => json(new URL(url), { msgtype: 'text', text: { content: cut(textOf(message), 2048) } }),
    refusal: ofErrcode,
  },
}

export const hookRequest = (kind: Exclude<RouteKind, 'email'>, ...given: Parameters<Hook['request']>): Post =>
  HOOKS[kind].request(...given)

/** @throws NotSent when the answer says that the message was not taken */
export function checkAnswer(kind: Exclude<RouteKind, 'email'>, origin: string, { status, retryAfterMs, text }: Answer): void {
  if (status === 429 || status >= 500) throw new NotSent(`${origin} answers with ${status}.`, { retryAfterMs })
  if (status >= 300 && status < 400)
    throw new NotSent(`${origin} sends us elsewhere (${status}); give the route the address where it is.`)
  if (status >= 400) throw new NotSent(`${origin} answers with ${status}.`, { isFinal: [400, 413, 415, 422].includes(status) })
  const { refusal } = HOOKS[kind]
  if (!refusal) return
  const body = parsed(text)
  if (!body) throw new NotSent(`${origin} answers with something that is no answer of ${kind}; see that its address is right.`)
  const refused = refusal(body)
  if (refused) throw new NotSent(`${origin} does not take it: ${refused.replace(/[\u0000-\u001f\u007f]/g, ' ').slice(0, 200)}`)
}

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

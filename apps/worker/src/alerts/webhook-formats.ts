import type { AlertSnapshot, RouteKind } from '@muster/core/alerts'
import { DeliveryError } from '../delivery/delivery-error.ts'
import { assertAcceptedStatus } from '../delivery/outcome.ts'
import type { PostRequest, PostResponse } from '../delivery/post.ts'
import { hmac, jsonRequest, signedJson } from '../delivery/signed-json.ts'
import { linesOf, type Message, messageTitle } from './message-text.ts'

type Secrets = { url: string; secret?: string }
type WebhookFormat = {
  request(message: Message, secrets: Secrets, now: Date): PostRequest
  /** Chat services always respond with 200 and report the outcome in the body. Null: accepted. */
  rejection?(body: Record<string, unknown>): string | null
}

/** A test message has the shape of a real one, so that receivers can be written against it. */
const exampleAlert = ({ delivery }: Message): AlertSnapshot => ({
  id: delivery.id,
  kind: 'offline',
  severity: 'critical',
  node: 'example-node',
  cluster: null,
  openedAt: delivery.createdAt.toISOString(),
  resolvedAt: null,
  count: 1,
  evidence: { isTest: true },
})

/** Plain text in every format: tenants and clusters choose their names, and no character in them may act as markup. */
const textOf = (message: Message): string =>
  [`[${message.tenantName}] ${messageTitle(message)}`, ...linesOf(message), message.link].join('\n')

/** Truncates to at most `maxBytes`, never inside a character. */
export function truncate(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text
  const bytes = Buffer.from(text).subarray(0, maxBytes - Buffer.byteLength('…'))
  return `${new TextDecoder().decode(bytes).replace(/\ufffd+$/, '')}…`
}

const errcodeRejection = (body: Record<string, unknown>) =>
  body.errcode === 0 ? null : `error ${body.errcode}: ${String(body.errmsg ?? '')}`

const FORMATS: Record<Exclude<RouteKind, 'email'>, WebhookFormat> = {
  // Muster's own format: complete, with GraphQL's enum values, an ID that stays the same, and a signature over time and body.
  webhook: {
    request(message, { url, secret }, now) {
      const { id, event, createdAt } = message.delivery
      const alerts = event === 'test' ? [exampleAlert(message)] : message.delivery.alerts
      const body = {
        id,
        event: event.toUpperCase(),
        tenant: message.tenantName,
        createdAt,
        link: message.link,
        text: textOf(message),
        alerts: alerts.map((alert) => ({
          ...alert,
          kind: alert.kind.toUpperCase(),
          severity: alert.severity.toUpperCase(),
        })),
      }
      return signedJson(new URL(url), body, { id, secret: secret!, now })
    },
  },
  // Incoming webhooks, which Mattermost and Rocket.Chat also accept: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
  slack: {
    request(message, { url }) {
      const text = textOf(message).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
      // A zero-width space keeps a cluster named @all from mentioning everybody.
      return jsonRequest(new URL(url), { text: text.replaceAll('@', '@\u200b') })
    },
  },
  // Custom robots; they sign "<ms>\n<secret>" with the secret as key: https://open.dingtalk.com/document/robots/custom-robot-access
  dingtalk: {
    request(message, { url, secret }, now) {
      const to = new URL(url)
      if (secret) {
        const timestamp = String(now.getTime())
        to.searchParams.set('timestamp', timestamp)
        to.searchParams.set('sign', hmac(secret, `${timestamp}\n${secret}`).digest('base64'))
      }
      return jsonRequest(to, { msgtype: 'text', text: { content: truncate(textOf(message), 18_000) } })
    },
    rejection: errcodeRejection,
  },
  // Custom bots of Feishu and Lark; "<s>\n<secret>" is the key that signs an empty message: https://open.feishu.cn/document/client-docs/bot-v3/add-custom-bot
  feishu: {
    request(message, { url, secret }, now) {
      const timestamp = String(Math.floor(now.getTime() / 1000))
      const signed = secret ? { timestamp, sign: hmac(`${timestamp}\n${secret}`, '').digest('base64') } : {}
      return jsonRequest(new URL(url), { ...signed, msg_type: 'text', content: { text: truncate(textOf(message), 18_000) } })
    },
    rejection(body) {
      const code = body.code ?? body.StatusCode
      return code === 0 ? null : `error ${code}: ${String(body.msg ?? body.StatusMessage ?? '')}`
    },
  },
  // Group robots: no signature, the key is part of the URL; at most 2048 bytes: https://developer.work.weixin.qq.com/document/path/91770
  wecom: {
    request: (message, { url }) =>
      jsonRequest(new URL(url), { msgtype: 'text', text: { content: truncate(textOf(message), 2048) } }),
    rejection: errcodeRejection,
  },
}

export const webhookRequest = (kind: Exclude<RouteKind, 'email'>, ...args: Parameters<WebhookFormat['request']>): PostRequest =>
  FORMATS[kind].request(...args)

/** @throws DeliveryError when the response reports that the message was not accepted */
export function assertAccepted(kind: Exclude<RouteKind, 'email'>, origin: string, response: PostResponse): void {
  assertAcceptedStatus(origin, response)
  const { rejection } = FORMATS[kind]
  if (!rejection) return
  const body = parseJsonObject(response.text)
  if (!body) throw new DeliveryError(`${origin} does not respond like ${kind}; check the route's URL.`)
  const reason = rejection(body)
  if (reason)
    throw new DeliveryError(`${origin} rejects the message: ${reason.replace(/[\u0000-\u001f\u007f]/g, ' ').slice(0, 200)}`)
}

function parseJsonObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

import { builder } from '../../../builder.ts'
import { same, upper } from '../../shared/enum-values.ts'

export const AlertRouteKind = builder.enumType('AlertRouteKind', {
  description: 'Where alerts go on a route.',
  values: upper({
    webhook: 'To a program, as signed JSON.',
    email: 'To mailboxes.',
    slack: 'To Slack, Mattermost, Rocket.Chat and what else takes their incoming webhooks.',
    dingtalk: 'To a DingTalk robot.',
    feishu: 'To a Feishu or Lark bot.',
    wecom: 'To a WeCom robot.',
  }),
})

export const SmtpSecurity = builder.enumType('SmtpSecurity', {
  description: 'How a connection to a mail server is kept from others.',
  values: upper({
    tls: 'TLS from the first byte.',
    starttls: 'It has to change over to TLS before anything is said.',
    none: 'Not at all; then there is no password either.',
  }),
})

export const AlertDeliveryEvent = builder.enumType('AlertDeliveryEvent', {
  description: 'What a message tells.',
  values: upper({ opened: 'Alerts began.', resolved: 'Alerts are over.', test: 'Nothing: it shows whether messages arrive.' }),
})

export const AlertDeliveryStatus = builder.enumType('AlertDeliveryStatus', {
  description: 'How it went with a message.',
  values: same({
    PENDING: 'It is still to be sent, or to be tried again.',
    DELIVERED: 'It was taken.',
    FAILED: 'It was given up.',
  }),
})

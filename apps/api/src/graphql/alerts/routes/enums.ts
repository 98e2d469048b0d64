import { builder } from '../../../builder.ts'
import { same, upper } from '../../shared/enum-values.ts'

export const AlertRouteKind = builder.enumType('AlertRouteKind', {
  description: 'Kind of destination of an alert route.',
  values: upper({
    webhook: 'HTTP endpoint that receives signed JSON.',
    email: 'Mail server.',
    slack: 'Incoming webhook of Slack, Mattermost, Rocket.Chat or a compatible service.',
    dingtalk: 'DingTalk robot.',
    feishu: 'Feishu or Lark bot.',
    wecom: 'WeCom robot.',
  }),
})

export const SmtpSecurity = builder.enumType('SmtpSecurity', {
  description: 'Transport security of a connection to a mail server.',
  values: upper({
    tls: 'TLS from the start.',
    starttls: 'STARTTLS, required before authentication.',
    none: 'No encryption and no authentication.',
  }),
})

export const AlertDeliveryEvent = builder.enumType('AlertDeliveryEvent', {
  description: 'Event that a message reports.',
  values: upper({ opened: 'Alerts opened.', resolved: 'Alerts resolved.', test: 'A test of the route.' }),
})

export const AlertDeliveryStatus = builder.enumType('AlertDeliveryStatus', {
  description: 'Status of the delivery of a message.',
  values: same({
    PENDING: 'Waiting for the first or next attempt.',
    DELIVERED: 'Accepted by the destination.',
    FAILED: 'Given up.',
  }),
})

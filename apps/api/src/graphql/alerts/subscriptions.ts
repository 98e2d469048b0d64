import { tenantPermissions } from '@muster/core/access'
import { type AlertChange, alertChanged, alerts, currentAlertCursor, readChangedAlerts } from '@muster/core/alerts'
import { visibleTo } from '@muster/core/db'
import { DomainError } from '@muster/core/errors'
import { and, eq } from 'drizzle-orm'
import { Repeater } from 'graphql-yoga'
import { builder } from '../../builder.ts'
import { type ApiContext, clearLoaderCaches } from '../../context.ts'
import { lastEventId } from '../../http/event-stream.ts'
import { rowId } from '../shared/ids.ts'
import { Alert } from './types.ts'

/** Change events can be lost, so changes are also read at this interval. */
const POLL_MS = 5000
const RETRY_MS = 500

/** Emits changes of alerts after `after`, or from now on. With `alertId`: only that alert, first its current state. */
function follow(context: ApiContext, alertId: string | null, after: string | null): Repeater<AlertChange> {
  const { ctx, deps } = context
  return new Repeater(async (push, stop) => {
    let isStopped = false
    let isDue = true
    let wake = () => {}
    const trigger = () => {
      isDue = true
      wake()
    }
    const stopListening = [
      deps.listener.on(alertChanged, alertId, ({ tenantId }) => tenantId === ctx.tenantId && trigger()),
      deps.listener.onReconnect(trigger),
    ]
    const timer = setInterval(trigger, POLL_MS)
    void stop.then(() => {
      isStopped = true
      wake()
    })
    try {
      let cursor = after ?? (await currentAlertCursor(ctx.db))
      if (alertId) {
        if ((await ctx.db.$count(alerts, and(visibleTo(ctx, alerts), eq(alerts.id, alertId)))) === 0) return
        if (!after) await push({ id: alertId, cursor })
      }
      while (!isStopped) {
        if (!isDue) await new Promise<void>((resolve) => (wake = resolve))
        if (isStopped) return
        isDue = false
        try {
          const { changes, next } = await readChangedAlerts(ctx.db, { tenantId: ctx.tenantId, alertId, after: cursor })
          cursor = next
          if (changes.length > 0) isDue = true
          for (const change of changes) {
            clearLoaderCaches(context)
            await push(change)
            if (isStopped) return
          }
        } catch (error) {
          if (error instanceof DomainError) throw error
          ctx.log.warn({ err: error }, 'cannot read changed alerts; retrying')
          isDue = true
          await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
        }
      }
    } finally {
      clearInterval(timer)
      for (const each of stopListening) each()
      stop()
    }
  })
}

const AlertUpdate = builder.objectRef<AlertChange>('AlertUpdate').implement({
  description: 'A change of an alert.',
  fields: (t) => ({
    alert: t.drizzleField({
      type: Alert,
      description: 'The alert after the change.',
      resolve: async (query, { id }, _args, { ctx }) =>
        (await ctx.db.query.alerts.findFirst(query({ where: { tenantId: ctx.tenantId, id } })))!,
    }),
    cursor: t.exposeString('cursor', { description: 'Position of the change: `after` of the next subscription.' }),
  }),
})

builder.queryField('alertUpdateCursor', (t) =>
  t.string({
    description:
      'Current position in the changes of alerts. Read it before the list of alerts, then subscribe with `alertUpdated(after:)`: no change is lost.',
    authScopes: { permission: tenantPermissions.read },
    resolve: (_root, _args, { ctx }) => currentAlertCursor(ctx.db),
  }),
)

builder.subscriptionField('alertUpdated', (t) =>
  t.field({
    type: AlertUpdate,
    description:
      'Alerts that open, change or resolve; an alert that changes several times in a row may be sent once. ' +
      'With `after`, changes since that position are sent first. With `id`, only that alert, first its current state.',
    authScopes: { permission: tenantPermissions.read },
    args: {
      id: t.arg.id({ description: 'Only this alert.' }),
      after: t.arg.string({
        description:
          'Cursor of the last received change, or of `alertUpdateCursor`. Default: from now on. A `Last-Event-ID` header takes precedence.',
      }),
    },
    subscribe: (_root, { id, after }, context) =>
      follow(context, id ? rowId('Alert', id) : null, lastEventId(context.headers) ?? after ?? null),
    resolve(change, _args, context) {
      context.cursor = change.cursor
      return change
    },
  }),
)

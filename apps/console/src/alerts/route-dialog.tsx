'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { CheckField, SelectField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { anyAlert, MatcherFields } from './matcher.tsx'
import { CreateAlertRoute, type Route, UpdateAlertRoute } from './route-documents.ts'

export const routeKinds = ['WEBHOOK', 'EMAIL', 'SLACK', 'DINGTALK', 'FEISHU', 'WECOM'] as const
const securities = ['STARTTLS', 'TLS', 'NONE'] as const
/** Kinds with a secret; for a mail server it is the password. */
const withSecret = ['WEBHOOK', 'EMAIL', 'DINGTALK', 'FEISHU']

/** Creates or edits a notification route. An empty secret field keeps the stored value. */
export function RouteDialog({ route, onClose, onDone }: { route: Route | null; onClose: () => void; onDone: () => void }) {
  const create = useMutation(CreateAlertRoute)
  const update = useMutation(UpdateAlertRoute)
  const mutation = route ? update : create
  const [form, setForm] = useState({
    name: route?.name ?? '',
    kind: route?.kind ?? ('WEBHOOK' as Route['kind']),
    url: '',
    secret: '',
    host: route?.host ?? '',
    port: route?.port ? String(route.port) : '',
    security: route?.security ?? ('STARTTLS' as const),
    username: route?.username ?? '',
    from: route?.from ?? '',
    to: route?.to.join(', ') ?? '',
  })
  const [isEnabled, setEnabled] = useState(route?.isEnabled ?? true)
  const [notifyOnResolve, setNotifyOnResolve] = useState(route?.notifyOnResolve ?? true)
  const [matcher, setMatcher] = useState(route?.matcher ?? { ...anyAlert, severities: ['CRITICAL' as const, 'WARNING' as const] })
  const isMail = form.kind === 'EMAIL'
  async function save() {
    const fields = {
      name: form.name,
      matcher,
      isEnabled,
      notifyOnResolve,
      ...(form.secret && { secret: form.secret }),
      ...(isMail
        ? {
            host: form.host,
            ...(form.port && { port: Number(form.port) }),
            security: form.security,
            username: form.username || null,
            from: form.from,
            to: form.to.split(/[\s,]+/).filter(Boolean),
          }
        : form.url && { url: form.url }),
    }
    const outcome = route
      ? await update.run({ input: { id: route.id, ...fields } })
      : await create.run({ input: { kind: form.kind, ...fields } })
    if (!outcome.ok) return
    toast('ok', t('routes.saved', { name: form.name }))
    onDone()
    onClose()
  }
  const error = (path: string) => issueFor(mutation.problem, path)
  const field = (key: keyof typeof form) => ({
    value: form[key],
    onChange: (event: { target: { value: string } }) => setForm((before) => ({ ...before, [key]: event.target.value })),
    error: error(key),
    autoComplete: 'off',
  })
  const keepStored = route ? t('credential.keepStored') : undefined
  return (
    <Dialog
      wide
      title={route ? t('routes.editTitle', { name: route.name }) : t('routes.newTitle')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button variant="primary" busy={mutation.busy} onClick={() => void save()}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {mutation.problem && mutation.problem.issues.length === 0 && <Notice tone="bad">{mutation.problem.message}</Notice>}
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField label={t('routes.name')} {...field('name')} />
          <SelectField label={t('routes.kind')} {...field('kind')} disabled={route !== null}>
            {routeKinds.map((kind) => (
              <option key={kind} value={kind}>
                {t(`routeKind.${kind}`)}
              </option>
            ))}
          </SelectField>
          {isMail ? (
            <>
              <TextField label={t('routes.host')} {...field('host')} mono />
              <TextField label={t('routes.port')} hint={t('routes.portHint')} optional inputMode="numeric" {...field('port')} />
              <SelectField label={t('routes.security')} {...field('security')}>
                {securities.map((security) => (
                  <option key={security} value={security}>
                    {t(`smtpSecurity.${security}`)}
                  </option>
                ))}
              </SelectField>
              <TextField label={t('routes.username')} optional {...field('username')} />
              <TextField label={t('routes.from')} {...field('from')} />
              <TextField label={t('routes.to')} hint={t('routes.toHint')} {...field('to')} />
            </>
          ) : (
            <TextField
              className="sm:col-span-2"
              label={t('routes.url')}
              hint={keepStored ?? t('routes.urlHint')}
              mono
              type="url"
              {...field('url')}
            />
          )}
          {withSecret.includes(form.kind) && (
            <TextField
              className="sm:col-span-2"
              label={isMail ? t('routes.password') : t('routes.secret')}
              hint={keepStored ?? (form.kind === 'WEBHOOK' ? t('routes.secretHint') : undefined)}
              optional={form.kind !== 'WEBHOOK'}
              type="password"
              {...field('secret')}
              autoComplete="new-password"
            />
          )}
        </div>
        <CheckField label={t('routes.enabled')} checked={isEnabled} onChange={() => setEnabled(!isEnabled)} />
        <CheckField
          label={t('routes.notifyOnResolve')}
          checked={notifyOnResolve}
          onChange={() => setNotifyOnResolve(!notifyOnResolve)}
        />
        <MatcherFields value={matcher} onChange={setMatcher} error={error} />
      </div>
    </Dialog>
  )
}

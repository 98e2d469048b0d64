'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { CheckField, SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { CreateAuditSink, type Sink, UpdateAuditSink } from './sink-documents.ts'

const sinkKinds = ['WEBHOOK', 'SYSLOG'] as const satisfies readonly Sink['kind'][]

/** Creates or edits an audit sink. An empty secret field keeps the stored value. */
export function SinkDialog({ sink, onClose, onDone }: { sink: Sink | null; onClose: () => void; onDone: () => void }) {
  const create = useMutation(CreateAuditSink)
  const update = useMutation(UpdateAuditSink)
  const mutation = sink ? update : create
  const [form, setForm] = useState({
    name: sink?.name ?? '',
    kind: sink?.kind ?? ('WEBHOOK' as Sink['kind']),
    url: '',
    secret: '',
    authorization: '',
    host: sink?.host ?? '',
    port: sink?.port ? String(sink.port) : '',
    caCertificate: sink?.caCertificate ?? '',
  })
  const [isEnabled, setEnabled] = useState(sink?.isEnabled ?? true)
  const [includeExisting, setIncludeExisting] = useState(false)
  const [removesAuthorization, setRemovesAuthorization] = useState(false)
  const isSyslog = form.kind === 'SYSLOG'
  async function save() {
    const fields = {
      name: form.name,
      isEnabled,
      ...(isSyslog
        ? { host: form.host, port: form.port ? Number(form.port) : null, caCertificate: form.caCertificate || null }
        : {
            ...(form.url && { url: form.url }),
            ...(form.secret && { secret: form.secret }),
            ...(form.authorization ? { authorization: form.authorization } : removesAuthorization ? { authorization: null } : {}),
          }),
    }
    const outcome = sink
      ? await update.run({ input: { id: sink.id, ...fields } })
      : await create.run({ input: { kind: form.kind, includeExisting, ...fields } })
    if (!outcome.ok) return
    toast('ok', t('sinks.saved', { name: form.name }))
    onDone()
    onClose()
  }
  const field = (key: keyof typeof form) => ({
    value: form[key],
    onChange: (event: { target: { value: string } }) => setForm((before) => ({ ...before, [key]: event.target.value })),
    error: issueFor(mutation.problem, key),
    autoComplete: 'off',
  })
  const keepStored = sink ? t('credential.keepStored') : undefined
  return (
    <Dialog
      wide
      title={sink ? t('sinks.editTitle', { name: sink.name }) : t('sinks.new')}
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
          <SelectField label={t('routes.kind')} {...field('kind')} disabled={sink !== null}>
            {sinkKinds.map((kind) => (
              <option key={kind} value={kind}>
                {t(`sinkKind.${kind}`)}
              </option>
            ))}
          </SelectField>
          {isSyslog ? (
            <>
              <TextField label={t('sinks.host')} hint={t('sinks.hostHint')} mono {...field('host')} />
              <TextField label={t('routes.port')} hint={t('sinks.portHint')} optional inputMode="numeric" {...field('port')} />
              <TextAreaField
                className="sm:col-span-2"
                label={t('sinks.caCertificate')}
                hint={t('sinks.caCertificateHint')}
                optional
                mono
                rows={4}
                {...field('caCertificate')}
              />
            </>
          ) : (
            <>
              <TextField
                className="sm:col-span-2"
                label={t('routes.url')}
                hint={keepStored ?? t('routes.urlHint')}
                mono
                type="url"
                {...field('url')}
              />
              <TextField
                className="sm:col-span-2"
                label={t('routes.secret')}
                hint={keepStored ?? t('sinks.secretHint')}
                type="password"
                {...field('secret')}
                autoComplete="new-password"
              />
              <TextField
                className="sm:col-span-2"
                label={t('sinks.authorization')}
                hint={sink?.hasAuthorization ? t('credential.keepStored') : t('sinks.authorizationHint')}
                optional
                type="password"
                {...field('authorization')}
                autoComplete="new-password"
              />
            </>
          )}
        </div>
        {sink?.hasAuthorization && (
          <CheckField
            label={t('sinks.removeAuthorization')}
            checked={removesAuthorization}
            onChange={() => setRemovesAuthorization(!removesAuthorization)}
          />
        )}
        {!sink && (
          <CheckField
            label={t('sinks.includeExisting')}
            checked={includeExisting}
            onChange={() => setIncludeExisting(!includeExisting)}
          />
        )}
        <CheckField
          label={t('routes.enabled')}
          hint={t('sinks.enabledHint')}
          checked={isEnabled}
          onChange={() => setEnabled(!isEnabled)}
        />
      </div>
    </Dialog>
  )
}

'use client'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { CredentialForm } from '@/credentials/credential-form.tsx'
import { CredentialSelect } from '@/credentials/credential-select.tsx'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog, DialogActions } from '@/ui/dialog.tsx'
import { TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { DiscoverBmcs, discoveryHref } from './documents.ts'

const fields = ['addresses', 'port', 'credentialId', 'caCertificate'] as const

/** Starts a discovery of BMCs, and opens its page. */
export function DiscoveryDialog({ onClose }: { onClose: () => void }) {
  const router = useRouter()
  const start = useMutation(DiscoverBmcs)
  const [form, setForm] = useState({ addresses: '', port: '', credentialId: '', caCertificate: '' })
  const change = (values: Partial<typeof form>) => setForm((before) => ({ ...before, ...values }))
  const addresses = form.addresses.split(/[\s,;]+/).filter(Boolean)
  async function submit() {
    if (addresses.length === 0) return
    const outcome = await start.run({
      input: {
        addresses,
        port: form.port ? Number(form.port) : null,
        credentialId: form.credentialId || null,
        caCertificate: form.caCertificate.trim() || null,
      },
    })
    if (outcome.ok) router.push(discoveryHref(outcome.value.bmcDiscovery.id))
  }
  const { problem } = start
  const isElsewhere = problem && !problem.issues.some(({ path }) => fields.some((field) => path.startsWith(field)))
  return (
    <Dialog wide title={t('bmcDiscovery.new')} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          event.stopPropagation()
          void submit()
        }}
      >
        <TextAreaField
          label={t('bmcDiscovery.addresses')}
          hint={t('bmcDiscovery.addressesHint')}
          placeholder={t('bmcDiscovery.addressesExample')}
          mono
          autoFocus
          rows={4}
          value={form.addresses}
          onChange={(event) => change({ addresses: event.target.value })}
          error={issueFor(problem, 'addresses')}
        />
        <div className="grid gap-4 sm:grid-cols-[1fr_110px]">
          <CredentialSelect
            Form={CredentialForm}
            label={t('bmc.credential')}
            hint={t('bmcDiscovery.credentialHint')}
            kinds={['BMC']}
            optional
            value={form.credentialId}
            onChange={(credentialId) => change({ credentialId })}
            error={issueFor(problem, 'credentialId')}
          />
          <TextField
            label={t('node.port')}
            type="number"
            min={1}
            max={65535}
            placeholder="443"
            value={form.port}
            onChange={(event) => change({ port: event.target.value })}
            error={issueFor(problem, 'port')}
          />
        </div>
        {form.credentialId && (
          <TextAreaField
            label={t('bmc.caCertificate')}
            hint={t('bmcDiscovery.caHint')}
            mono
            rows={4}
            value={form.caCertificate}
            onChange={(event) => change({ caCertificate: event.target.value })}
            error={issueFor(problem, 'caCertificate')}
          />
        )}
        {isElsewhere && <Notice tone="bad">{problem.message}</Notice>}
        <DialogActions>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            type="submit"
            variant="primary"
            showReason
            busy={start.busy}
            blockedReason={addresses.length === 0 ? t('bmcDiscovery.needAddresses') : null}
          >
            {t('bmcDiscovery.start')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

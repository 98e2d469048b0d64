'use client'
import { useState } from 'react'
import { CredentialForm } from '@/credentials/credential-form.tsx'
import { CredentialSelect } from '@/credentials/credential-select.tsx'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { type NodePower, SetNodeBmc } from './documents.ts'

const protocols = ['REDFISH', 'IPMI'] as const
const trusts = ['FINGERPRINT', 'CA', 'INSTALLATION'] as const
const defaultPorts = { REDFISH: '443', IPMI: '623' }

/** Sets or changes the BMC of a node. */
export function BmcDialog({ node, onClose }: { node: NodePower; onClose: () => void }) {
  const { bmc } = node
  const mutation = useMutation(SetNodeBmc)
  const [form, setForm] = useState({
    address: bmc?.address ?? '',
    port: bmc ? String(bmc.port) : '',
    mac: bmc?.mac ?? '',
    protocol: bmc?.protocol ?? ('REDFISH' as const),
    credentialId: bmc?.credential.id ?? '',
    trust: (bmc?.caCertificate ? 'CA' : bmc && !bmc.fingerprint ? 'INSTALLATION' : 'FINGERPRINT') as (typeof trusts)[number],
    fingerprint: bmc?.fingerprint ?? '',
    caCertificate: bmc?.caCertificate ?? '',
    systemPath: bmc?.systemPath ?? '',
  })
  const change = (values: Partial<typeof form>) => setForm((before) => ({ ...before, ...values }))
  const field = (key: Exclude<keyof typeof form, 'protocol' | 'trust'>) => ({
    value: form[key],
    onChange: (event: { target: { value: string } }) => change({ [key]: event.target.value }),
    error: issueFor(mutation.problem, key),
  })
  async function save() {
    const isRedfish = form.protocol === 'REDFISH'
    const outcome = await mutation.run({
      input: {
        nodeId: node.id,
        address: form.address.trim(),
        port: form.port ? Number(form.port) : null,
        mac: form.mac.trim() || null,
        protocol: form.protocol,
        ...(form.credentialId ? { credentialId: form.credentialId } : {}),
        fingerprint: isRedfish && form.trust === 'FINGERPRINT' ? form.fingerprint.trim() || null : null,
        caCertificate: isRedfish && form.trust === 'CA' ? form.caCertificate.trim() || null : null,
        systemPath: isRedfish ? form.systemPath.trim() || null : null,
      },
    })
    if (!outcome.ok) return
    toast('ok', t('bmc.saved', { name: node.name }))
    onClose()
  }
  return (
    <Dialog
      wide
      title={t('bmc.editTitle', { name: node.name })}
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
      <form
        className="grid gap-4 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault()
          event.stopPropagation()
          void save()
        }}
      >
        {mutation.problem && (
          <div className="sm:col-span-2">
            <Notice tone="bad">{mutation.problem.message}</Notice>
          </div>
        )}
        <SelectField
          label={t('bmc.protocol')}
          value={form.protocol}
          onChange={(event) => change({ protocol: event.target.value as typeof form.protocol, port: '' })}
          hint={t(`bmcProtocolHint.${form.protocol}`)}
        >
          {protocols.map((each) => (
            <option key={each} value={each}>
              {t(`bmcProtocol.${each}`)}
            </option>
          ))}
        </SelectField>
        <div className="grid grid-cols-[1fr_96px] gap-4">
          <TextField label={t('bmc.address')} mono required {...field('address')} />
          <TextField
            label={t('node.port')}
            type="number"
            min={1}
            max={65535}
            placeholder={defaultPorts[form.protocol]}
            {...field('port')}
          />
        </div>
        <CredentialSelect
          Form={CredentialForm}
          label={t('bmc.credential')}
          kinds={['BMC']}
          value={form.credentialId}
          onChange={(credentialId) => change({ credentialId })}
          error={issueFor(mutation.problem, 'credentialId')}
        />
        <TextField label={t('bmc.mac')} mono optional {...field('mac')} />
        {form.protocol === 'REDFISH' && (
          <>
            <SelectField
              label={t('bmc.trust')}
              value={form.trust}
              onChange={(event) => change({ trust: event.target.value as typeof form.trust })}
              hint={t(`bmcTrustHint.${form.trust}`)}
            >
              {trusts.map((each) => (
                <option key={each} value={each}>
                  {t(`bmcTrust.${each}`)}
                </option>
              ))}
            </SelectField>
            <TextField label={t('bmc.systemPath')} mono optional hint={t('bmc.systemPathHint')} {...field('systemPath')} />
            {form.trust === 'FINGERPRINT' && (
              <TextField className="sm:col-span-2" label={t('bmc.fingerprint')} mono optional {...field('fingerprint')} />
            )}
            {form.trust === 'CA' && (
              <TextAreaField className="sm:col-span-2" label={t('bmc.caCertificate')} mono rows={5} {...field('caCertificate')} />
            )}
          </>
        )}
        <button type="submit" className="hidden" />
      </form>
    </Dialog>
  )
}

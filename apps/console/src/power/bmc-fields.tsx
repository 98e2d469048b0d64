'use client'
import { CredentialForm } from '@/credentials/credential-form.tsx'
import { CredentialSelect } from '@/credentials/credential-select.tsx'
import { t } from '@/messages/index.ts'
import { SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import type { Bmc } from './documents.ts'

const protocols = ['REDFISH', 'IPMI'] as const
const trusts = ['FINGERPRINT', 'CA', 'INSTALLATION'] as const
const defaultPorts = { REDFISH: '443', IPMI: '623' }

/** Form values of a BMC. */
export const bmcForm = (bmc: Bmc | null) => ({
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
export type BmcForm = ReturnType<typeof bmcForm>

/** The fields of mutations, except the credential. */
export function bmcInput(form: BmcForm) {
  const isRedfish = form.protocol === 'REDFISH'
  return {
    address: form.address.trim(),
    port: form.port ? Number(form.port) : null,
    mac: form.mac.trim() || null,
    protocol: form.protocol,
    fingerprint: isRedfish && form.trust === 'FINGERPRINT' ? form.fingerprint.trim() || null : null,
    caCertificate: isRedfish && form.trust === 'CA' ? form.caCertificate.trim() || null : null,
    systemPath: isRedfish ? form.systemPath.trim() || null : null,
  }
}

type Props = { value: BmcForm; onChange: (values: Partial<BmcForm>) => void; error: (path: string) => string | undefined }

/** Fields of a BMC, for a grid of two columns. */
export function BmcFields({ value: form, onChange: change, error }: Props) {
  const field = (key: Exclude<keyof BmcForm, 'protocol' | 'trust'>) => ({
    value: form[key],
    onChange: (event: { target: { value: string } }) => change({ [key]: event.target.value }),
    error: error(key),
  })
  return (
    <>
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
        error={error('credentialId')}
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
    </>
  )
}

'use client'
import { CredentialForm } from '@/credentials/credential-form.tsx'
import { CredentialSelect } from '@/credentials/credential-select.tsx'
import { t } from '@/messages/index.ts'
import { CheckField, TextAreaField, TextField } from '@/ui/field.tsx'

export type SaltForm = { saltCredentialId: string; saltEauth: string; saltCaCertificate: string; saltInstalls: boolean }

/** The input fields of the API. */
export const saltInput = ({ saltCredentialId, saltEauth, saltCaCertificate, saltInstalls }: SaltForm) =>
  saltCredentialId
    ? { saltCredentialId, saltEauth: saltEauth.trim() || null, saltCaCertificate: saltCaCertificate.trim() || null, saltInstalls }
    : { saltCredentialId: null, saltEauth: null, saltCaCertificate: null, saltInstalls: false }

type Props = {
  form: SaltForm
  onChange: (change: Partial<SaltForm>) => void
  errorOf: (field: Exclude<keyof SaltForm, 'saltInstalls'>) => string | undefined
}

/** Salt of a managed cluster: the login at its salt-api, and how it is verified. */
export function SaltFields({ form, onChange, errorOf }: Props) {
  return (
    <>
      <CredentialSelect
        Form={CredentialForm}
        label={t('slurmScale.salt')}
        hint={t('slurmScale.saltHint')}
        optional
        kinds={['SALT']}
        value={form.saltCredentialId}
        onChange={(saltCredentialId) => onChange({ saltCredentialId })}
        error={errorOf('saltCredentialId')}
      />
      {form.saltCredentialId && (
        <>
          <TextField
            label={t('slurmScale.saltEauth')}
            hint={t('slurmScale.saltEauthHint')}
            mono
            optional
            value={form.saltEauth}
            onChange={(event) => onChange({ saltEauth: event.target.value })}
            error={errorOf('saltEauth')}
          />
          <TextAreaField
            label={t('slurmScale.saltCa')}
            hint={t('slurmScale.saltCaHint')}
            mono
            optional
            rows={4}
            value={form.saltCaCertificate}
            onChange={(event) => onChange({ saltCaCertificate: event.target.value })}
            error={errorOf('saltCaCertificate')}
          />
          <CheckField
            label={t('slurmScale.saltInstalls')}
            hint={t('slurmScale.saltInstallsHint')}
            checked={form.saltInstalls}
            onChange={(event) => onChange({ saltInstalls: event.target.checked })}
          />
        </>
      )}
    </>
  )
}

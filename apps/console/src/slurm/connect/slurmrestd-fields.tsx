'use client'
import { CredentialForm } from '@/credentials/credential-form.tsx'
import { CredentialSelect } from '@/credentials/credential-select.tsx'
import { t } from '@/messages/index.ts'
import { SelectField, TextAreaField, TextField } from '@/ui/field.tsx'

export const SLURMRESTD_SOURCES = ['NONE', 'SOCKET', 'URL'] as const
export type SlurmrestdForm = {
  slurmrestd: (typeof SLURMRESTD_SOURCES)[number]
  slurmrestdSocket: string
  slurmrestdCredentialId: string
  slurmrestdCaCertificate: string
}
export const noSlurmrestd: SlurmrestdForm = {
  slurmrestd: 'NONE',
  slurmrestdSocket: '',
  slurmrestdCredentialId: '',
  slurmrestdCaCertificate: '',
}

/** Why the settings are incomplete; null when they are not. */
export const missingSlurmrestd = ({ slurmrestd, slurmrestdSocket, slurmrestdCredentialId }: SlurmrestdForm): string | null =>
  slurmrestd === 'SOCKET' && !slurmrestdSocket.trim()
    ? t('slurmrestd.needSocket')
    : slurmrestd === 'URL' && !slurmrestdCredentialId
      ? t('slurmrestd.needCredential')
      : null

/** The input fields of the API. */
export const slurmrestdInput = (form: SlurmrestdForm) => ({
  slurmrestdSocket: form.slurmrestd === 'SOCKET' ? form.slurmrestdSocket.trim() || null : null,
  slurmrestdCredentialId: form.slurmrestd === 'URL' ? form.slurmrestdCredentialId || null : null,
  slurmrestdCaCertificate:
    form.slurmrestd === 'URL' && form.slurmrestdCredentialId ? form.slurmrestdCaCertificate.trim() || null : null,
})

type Props = {
  form: SlurmrestdForm
  onChange: (change: Partial<SlurmrestdForm>) => void
  errorOf: (field: Exclude<keyof SlurmrestdForm, 'slurmrestd'>) => string | undefined
}

/** From where nodes and jobs are read: commands, or slurmrestd at a socket or URL. */
export function SlurmrestdFields({ form, onChange, errorOf }: Props) {
  return (
    <>
      <SelectField
        label={t('slurmrestd.source')}
        hint={t('slurmrestd.sourceHint')}
        value={form.slurmrestd}
        onChange={(event) => onChange({ slurmrestd: event.target.value as SlurmrestdForm['slurmrestd'] })}
      >
        {SLURMRESTD_SOURCES.map((source) => (
          <option key={source} value={source}>
            {t(`slurmrestdSource.${source}`)}
          </option>
        ))}
      </SelectField>
      {form.slurmrestd === 'SOCKET' && (
        <TextField
          label={t('slurmrestd.socket')}
          hint={t('slurmrestd.socketHint')}
          mono
          value={form.slurmrestdSocket}
          onChange={(event) => onChange({ slurmrestdSocket: event.target.value })}
          error={errorOf('slurmrestdSocket')}
        />
      )}
      {form.slurmrestd === 'URL' && (
        <>
          <CredentialSelect
            Form={CredentialForm}
            label={t('slurmrestd.credential')}
            kinds={['SLURMRESTD']}
            value={form.slurmrestdCredentialId}
            onChange={(slurmrestdCredentialId) => onChange({ slurmrestdCredentialId })}
            error={errorOf('slurmrestdCredentialId')}
          />
          <TextAreaField
            label={t('slurmrestd.ca')}
            hint={t('slurmScale.saltCaHint')}
            mono
            optional
            rows={4}
            value={form.slurmrestdCaCertificate}
            onChange={(event) => onChange({ slurmrestdCaCertificate: event.target.value })}
            error={errorOf('slurmrestdCaCertificate')}
          />
        </>
      )}
    </>
  )
}

import { CredentialForm } from '@/credentials/credential-form.tsx'
import { CredentialSelect } from '@/credentials/credential-select.tsx'
import { t } from '@/messages/index.ts'
import type { NodeHead } from './node-documents.ts'

export type Access = { credentialId: string; becomeCredentialId: string; bastionId: string }
type Props = {
  value: Access
  onChange: (key: keyof Access, id: string) => void
  error?: (path: string) => string | undefined
  /** Label of a first option with the value `keep`, for bulk edits. */
  keep?: string
  connectionType?: NodeHead['connectionType']
}

/** Selects for a node's credential, become credential and bastion. A local node needs only the become credential. */
export function AccessFields({ value, onChange, error, keep, connectionType = 'SSH' }: Props) {
  const field = (key: keyof Access) => ({
    Form: CredentialForm,
    keep,
    value: value[key],
    onChange: (id: string) => onChange(key, id),
    error: error?.(key),
  })
  return (
    <>
      {connectionType === 'SSH' && (
        <CredentialSelect label={t('node.credential')} kinds={['SSH_KEY', 'SSH_PASSWORD']} {...field('credentialId')} />
      )}
      <CredentialSelect label={t('node.becomeCredential')} optional={!keep} kinds={['BECOME']} {...field('becomeCredentialId')} />
      {connectionType === 'SSH' && (
        <CredentialSelect label={t('node.bastion')} optional={!keep} kinds={['BASTION']} {...field('bastionId')} />
      )}
    </>
  )
}

export const noAccess: Access = { credentialId: '', becomeCredentialId: '', bastionId: '' }

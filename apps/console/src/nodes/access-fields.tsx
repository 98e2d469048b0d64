import { CredentialSelect } from '@/credentials/credential-select.tsx'
import { t } from '@/messages/index.ts'

export type Access = { credentialId: string; becomeCredentialId: string; bastionId: string }
type Props = {
  value: Access
  onChange: (key: keyof Access, id: string) => void
  error?: (path: string) => string | undefined
  /** A first choice with the value `keep`, for many nodes that differ. */
  keep?: string
}

/** The credentials by which a node is reached: its login, how to become root on it, and the host on the way. */
export function AccessFields({ value, onChange, error, keep }: Props) {
  const field = (key: keyof Access) => ({
    keep,
    value: value[key],
    onChange: (id: string) => onChange(key, id),
    error: error?.(key),
  })
  return (
    <>
      <CredentialSelect label={t('node.credential')} kinds={['SSH_KEY', 'SSH_PASSWORD']} {...field('credentialId')} />
      <CredentialSelect label={t('node.becomeCredential')} optional={!keep} kinds={['BECOME']} {...field('becomeCredentialId')} />
      <CredentialSelect label={t('node.bastion')} optional={!keep} kinds={['BASTION']} {...field('bastionId')} />
    </>
  )
}

export const noAccess: Access = { credentialId: '', becomeCredentialId: '', bastionId: '' }

'use client'
import { Plus } from 'lucide-react'
import { type ComponentType, useState } from 'react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SelectField } from '@/ui/field.tsx'
import { type CredentialKind, type CredentialRow, CredentialsQuery } from './documents.ts'

type FormProps = { kinds: CredentialKind[]; onDone: (credential: CredentialRow) => void; onCancel: () => void }
type Props = {
  /** The form of a new credential. A prop, because the form of a bastion contains this select. */
  Form: ComponentType<FormProps>
  label: string
  hint?: string
  kinds: CredentialKind[]
  value: string
  onChange: (id: string) => void
  error?: string
  optional?: boolean
  except?: string
  /** Label of an additional first option with the value `keep`. */
  keep?: string
}

/** A select of credentials with a button that creates one. */
export function CredentialSelect({ Form, label, hint, kinds, value, onChange, error, optional, except, keep }: Props) {
  const [{ data }, reload] = useQuery({
    query: CredentialsQuery,
    variables: { filter: { kind: kinds }, first: 500 },
    requestPolicy: 'cache-and-network',
  })
  const [isMaking, setMaking] = useState(false)
  const choices = data?.credentials.edges.map((edge) => edge.node).filter((credential) => credential.id !== except) ?? []
  return (
    <div className="flex items-start gap-2">
      <SelectField
        className="min-w-0 flex-1"
        label={label}
        hint={hint}
        optional={optional}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        error={error}
      >
        {keep && <option value="keep">{keep}</option>}
        <option value="">{t('credential.choose')}</option>
        {choices.map((credential) => (
          <option key={credential.id} value={credential.id}>
            {credential.username ? t('credential.option', { name: credential.name, user: credential.username }) : credential.name}
          </option>
        ))}
      </SelectField>
      <Button
        className="mt-6"
        label={t('credential.newFor', { label })}
        icon={<Plus aria-hidden />}
        onClick={() => setMaking(true)}
      />
      {isMaking && (
        <Dialog wide title={t('credential.newTitle')} onClose={() => setMaking(false)}>
          <Form
            kinds={kinds}
            onCancel={() => setMaking(false)}
            onDone={(credential) => {
              setMaking(false)
              reload({ requestPolicy: 'network-only' })
              onChange(credential.id)
            }}
          />
        </Dialog>
      )}
    </div>
  )
}

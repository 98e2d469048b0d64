'use client'
import { useState } from 'react'
import { issueFor, issuesWithin, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SelectField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { SecretText } from '@/ui/secret-text.tsx'
import { useServiceAccountChoices } from './grants/choices.ts'
import { RoleField } from './role-field.tsx'
import { CreateApiToken } from './token-documents.ts'
import { type Scope, scopeBlockedReason, TokenScope } from './token-scope.tsx'
import { useBlockedReason } from './viewer.tsx'

const lifetimes = ['7', '30', '90', '365'] as const

/** Who owns a new token: the signed-in user, or a service account. Hidden for users who may not change members. */
function OwnerField({ value, onChange, error }: { value: string; onChange: (id: string) => void; error: string | undefined }) {
  const { choices, problem } = useServiceAccountChoices()
  const isAllowed = useBlockedReason('member:write') === null
  if (!isAllowed || (choices.length === 0 && !problem)) return null
  return (
    <SelectField
      label={t('tokens.owner')}
      value={value}
      hint={t('tokens.ownerHint')}
      error={error ?? problem?.message}
      onChange={(event) => onChange(event.target.value)}
    >
      <option value="">{t('tokens.ownerMe')}</option>
      {choices.map(({ id, label }) => (
        <option key={id} value={id}>
          {label}
        </option>
      ))}
    </SelectField>
  )
}

/** Creates an API token and shows it once. */
export function CreateTokenDialog({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const mutation = useMutation(CreateApiToken)
  const [name, setName] = useState('')
  const [role, setRole] = useState('operator')
  const [serviceAccountId, setServiceAccountId] = useState('')
  const [days, setDays] = useState('90')
  const [networks, setNetworks] = useState('')
  const [scope, setScope] = useState<Scope>({ permissions: null, nodeGroupIds: null })
  const [token, setToken] = useState<string | null>(null)
  async function create() {
    const owner = serviceAccountId ? { serviceAccountId } : {}
    const accepted = networks.split(/[\s,]+/).filter(Boolean)
    const limits = { ...scope, ...(accepted.length > 0 ? { networks: accepted } : {}), expiresInSeconds: Number(days) * 86_400 }
    const outcome = await mutation.run({ input: { name, role, ...owner, ...limits } })
    if (!outcome.ok) return
    setToken(outcome.value.secret)
    onCreated()
  }
  const blockedReason = name.trim() ? scopeBlockedReason(scope) : t('tokens.needName')
  function changeRole(next: string) {
    setRole(next)
    setScope({ ...scope, permissions: null })
  }
  if (token !== null) {
    return (
      <Dialog
        title={t('tokens.createdTitle')}
        onClose={onClose}
        footer={
          <Button variant="primary" onClick={onClose}>
            {t('tokens.createdDone')}
          </Button>
        }
      >
        <div className="flex flex-col gap-3">
          <Notice tone="warn">{t('tokens.once')}</Notice>
          <SecretText testId="token" text={token} />
          <p className="text-xs text-muted">{t('tokens.usage')}</p>
          <pre className="overflow-auto rounded-md bg-sunken p-2 font-mono text-xs">
            {t('tokens.usageExample', { url: location.origin })}
          </pre>
        </div>
      </Dialog>
    )
  }
  return (
    <Dialog
      wide
      title={t('tokens.new')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button variant="primary" busy={mutation.busy} showReason blockedReason={blockedReason} onClick={() => void create()}>
            {t('tokens.create')}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!blockedReason) void create()
        }}
      >
        {mutation.problem && <Notice tone="bad">{mutation.problem.message}</Notice>}
        <TextField
          label={t('tokens.name')}
          autoFocus
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={issueFor(mutation.problem, 'name')}
          hint={t('tokens.nameHint')}
        />
        <OwnerField
          value={serviceAccountId}
          error={issueFor(mutation.problem, 'serviceAccountId')}
          onChange={setServiceAccountId}
        />
        <RoleField value={role} error={issueFor(mutation.problem, 'role')} onChange={changeRole} />
        <SelectField label={t('tokens.expires')} value={days} onChange={(event) => setDays(event.target.value)}>
          {lifetimes.map((each) => (
            <option key={each} value={each}>
              {t('tokens.days', { count: Number(each) })}
            </option>
          ))}
        </SelectField>
        <TextField
          label={t('tokens.networks')}
          hint={t('tokens.networksHint')}
          optional
          mono
          value={networks}
          onChange={(event) => setNetworks(event.target.value)}
          error={issuesWithin(mutation.problem, 'networks')}
        />
        <TokenScope role={role} scope={scope} problem={mutation.problem} onChange={setScope} />
      </form>
    </Dialog>
  )
}

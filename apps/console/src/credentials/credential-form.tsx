'use client'
import { useState } from 'react'
import { issueFor, issuesWithin, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { CredentialSelect } from './credential-select.tsx'
import { CreateCredential, type CredentialKind, type CredentialRow, UpdateCredential } from './documents.ts'
import { locationsOf, refsOf, type SecretField, SecretLocations, SecretStoreSelect } from './secret-locations.tsx'

const privateKeyExample = '-----BEGIN OPENSSH PRIVATE KEY-----'
export const allKinds: CredentialKind[] = ['SSH_KEY', 'SSH_PASSWORD', 'BASTION', 'BECOME', 'GIT', 'SALT', 'SLURMRESTD', 'BMC']
const inputFields = { PRIVATE_KEY: 'privateKey', PASSPHRASE: 'passphrase', PASSWORD: 'password' } as const
const defaultPorts: Partial<Record<CredentialKind, string>> = { BASTION: '22', SALT: '8000', SLURMRESTD: '6820' }
type Props = {
  kinds?: CredentialKind[]
  credential?: CredentialRow
  onDone: (credential: CredentialRow) => void
  onCancel: () => void
}

/** Creates or edits a credential. The API never returns secrets; an empty field keeps the stored value. */
export function CredentialForm({ kinds = allKinds, credential, onDone, onCancel }: Props) {
  const create = useMutation(CreateCredential)
  const update = useMutation(UpdateCredential)
  const [kind, setKind] = useState<CredentialKind>(credential?.kind ?? kinds[0] ?? 'SSH_KEY')
  const [becomeMethod, setBecomeMethod] = useState<'SUDO' | 'SU'>(credential?.becomeMethod ?? 'SUDO')
  const [viaId, setViaId] = useState(credential?.via?.id ?? '')
  const [storeId, setStoreId] = useState(credential?.secretStore?.id ?? '')
  const [locations, setLocations] = useState(() => locationsOf(credential?.secretRefs ?? []))
  const [form, setForm] = useState({
    name: credential?.name ?? '',
    description: credential?.description ?? '',
    username: credential?.username ?? '',
    privateKey: '',
    passphrase: '',
    password: '',
    host: credential?.host ?? '',
    port: String(credential?.port ?? ''),
    hostKey: '',
    allowedHosts: credential?.allowedHosts.join(', ') ?? '*',
  })
  const set = (key: keyof typeof form) => (event: { target: { value: string } }) =>
    setForm((before) => ({ ...before, [key]: event.target.value }))
  const mutation = credential ? update : create
  const fields = {
    key: kind === 'SSH_KEY' || kind === 'BASTION' || kind === 'GIT',
    password: kind !== 'SSH_KEY',
    host: kind === 'BASTION' || kind === 'GIT' || kind === 'SALT' || kind === 'SLURMRESTD',
    via: kind === 'BASTION',
    hostKey: kind === 'GIT',
    allowedHosts: kind === 'SSH_PASSWORD' || kind === 'BECOME' || kind === 'BMC',
    user: true,
  }
  const secretFields: SecretField[] = [
    ...(fields.key ? (['PRIVATE_KEY', 'PASSPHRASE'] as const) : []),
    ...(fields.password ? (['PASSWORD'] as const) : []),
  ]
  async function save() {
    const values = {
      ...(fields.key &&
        form.privateKey.trim() && { privateKey: form.privateKey.endsWith('\n') ? form.privateKey : `${form.privateKey}\n` }),
      ...(fields.key && form.passphrase && { passphrase: form.passphrase }),
      ...(fields.password && form.password && { password: form.password }),
    }
    const common = {
      name: form.name,
      description: form.description,
      username: form.username || null,
      // The fields of the other source are not sent; the API clears what they replaced.
      ...(storeId ? { secretStoreId: storeId, secretRefs: refsOf(secretFields, locations) } : values),
      ...(!storeId && credential?.secretStore && { secretStoreId: null, secretRefs: [] }),
      ...(fields.host && { host: form.host, port: form.port ? Number(form.port) : null }),
      ...(fields.via && { viaId: viaId || null }),
      ...(fields.allowedHosts && { allowedHosts: form.allowedHosts.split(/[\s,]+/).filter(Boolean) }),
      ...(fields.hostKey && form.hostKey.trim() && { hostKey: form.hostKey }),
    }
    const outcome = credential
      ? await update.run({ input: { id: credential.id, ...common } })
      : await create.run({ input: { kind, ...common, ...(kind === 'BECOME' && { becomeMethod }) } })
    if (outcome.ok) onDone(outcome.value.credential)
  }
  async function readFile(file: File | undefined) {
    if (!file) return
    const text = await file.text()
    setForm((before) => ({ ...before, privateKey: text }))
  }
  const error = (path: string) => issueFor(mutation.problem, path)
  // Stored secrets apply only to the host and port they were entered for.
  const isMoved =
    credential !== undefined && fields.host && (form.host !== credential.host || form.port !== String(credential.port ?? ''))
  const isStored = (field: CredentialRow['secretsSet'][number]) => credential?.secretsSet.includes(field) ?? false
  const secretHint = (field: CredentialRow['secretsSet'][number]) =>
    isStored(field) ? t(isMoved ? 'credential.reenter' : 'credential.keepStored') : undefined
  return (
    <form
      className="grid gap-4 sm:grid-cols-2"
      onSubmit={(event) => {
        event.preventDefault()
        event.stopPropagation()
        if (!mutation.busy) void save()
      }}
    >
      {mutation.problem && (
        <div className="sm:col-span-2">
          <Notice tone="bad">{mutation.problem.message}</Notice>
        </div>
      )}
      <TextField label={t('credential.name')} required value={form.name} onChange={set('name')} error={error('name')} autoFocus />
      <SelectField
        label={t('credential.kind')}
        value={kind}
        disabled={Boolean(credential) || kinds.length === 1}
        onChange={(event) => setKind(event.target.value as CredentialKind)}
        hint={t(`credentialKindHint.${kind}`)}
      >
        {(credential ? [credential.kind] : kinds).map((each) => (
          <option key={each} value={each}>
            {t(`credentialKind.${each}`)}
          </option>
        ))}
      </SelectField>
      {fields.host && (
        <div className="grid grid-cols-[1fr_96px] gap-4 sm:col-span-2">
          <TextField label={t('node.host')} mono required value={form.host} onChange={set('host')} error={error('host')} />
          <TextField
            label={t('node.port')}
            type="number"
            min={1}
            max={65535}
            placeholder={defaultPorts[kind] ?? ''}
            value={form.port}
            onChange={set('port')}
            error={error('port')}
          />
        </div>
      )}
      <TextField
        className="sm:col-span-2"
        label={t('credential.username')}
        mono
        value={form.username}
        onChange={set('username')}
        error={error('username')}
        autoComplete="off"
        hint={kind === 'BECOME' ? t('credential.becomeUserHint') : t('credential.usernameHint')}
      />
      {kind === 'BECOME' && (
        <SelectField
          label={t('credential.becomeMethod')}
          value={becomeMethod}
          disabled={Boolean(credential)}
          onChange={(event) => setBecomeMethod(event.target.value as 'SUDO')}
        >
          <option value="SUDO">{t('credential.sudo')}</option>
          <option value="SU">{t('credential.su')}</option>
        </SelectField>
      )}
      <SecretStoreSelect value={storeId} onChange={setStoreId} error={error('secretStoreId') ?? error('secretRefs')} />
      {storeId && (
        <SecretLocations
          fields={secretFields}
          locations={locations}
          onChange={setLocations}
          labelOf={(field) => t('credential.locationOf', { field: t(`secret.${field}`) })}
          isOptional={(field) => field === 'PASSPHRASE' || (fields.key && fields.password)}
          error={(field) => issuesWithin(mutation.problem, `secretRefs.${inputFields[field]}`) ?? error(inputFields[field])}
        />
      )}
      {!storeId && fields.key && (
        <>
          <div className="flex flex-col gap-1.5 sm:col-span-2">
            <TextAreaField
              label={t('credential.privateKey')}
              mono
              rows={6}
              value={form.privateKey}
              onChange={set('privateKey')}
              error={error('privateKey')}
              placeholder={privateKeyExample}
              autoComplete="off"
              hint={secretHint('PRIVATE_KEY') ?? t('credential.privateKeyHint')}
              optional={kind !== 'SSH_KEY' && !(isMoved && isStored('PRIVATE_KEY'))}
            />
            <label className="w-fit cursor-pointer text-xs text-accent underline underline-offset-2 focus-within:outline-2">
              {t('credential.fromFile')}
              <input type="file" className="sr-only" onChange={(event) => void readFile(event.target.files?.[0])} />
            </label>
          </div>
          <TextField
            label={t('credential.passphrase')}
            type="password"
            optional
            value={form.passphrase}
            onChange={set('passphrase')}
            error={error('passphrase')}
            autoComplete="new-password"
            hint={secretHint('PASSPHRASE') ?? t('credential.passphraseHint')}
          />
        </>
      )}
      {!storeId && fields.password && (
        <TextField
          label={t('signIn.password')}
          type="password"
          optional={fields.key && !(isMoved && isStored('PASSWORD'))}
          value={form.password}
          onChange={set('password')}
          error={error('password')}
          autoComplete="new-password"
          hint={secretHint('PASSWORD')}
        />
      )}
      {fields.allowedHosts && (
        <TextField
          className="sm:col-span-2"
          label={t('credential.allowedHosts')}
          mono
          required
          value={form.allowedHosts}
          onChange={set('allowedHosts')}
          error={error('allowedHosts')}
          hint={t('credential.allowedHostsHint')}
        />
      )}
      {fields.hostKey && (
        <TextField
          className="sm:col-span-2"
          label={t('credential.hostKey')}
          mono
          optional
          value={form.hostKey}
          onChange={set('hostKey')}
          error={error('hostKey')}
          autoComplete="off"
          hint={credential?.hostKeyFingerprint ?? t('credential.hostKeyHint')}
        />
      )}
      {fields.via && (
        <CredentialSelect
          Form={CredentialForm}
          label={t('credential.via')}
          optional
          kinds={['BASTION']}
          except={credential?.id}
          value={viaId}
          onChange={setViaId}
          error={error('viaId')}
        />
      )}
      <TextField
        className="sm:col-span-2"
        label={t('credential.description')}
        optional
        value={form.description}
        onChange={set('description')}
        error={error('description')}
      />
      <div className="flex justify-end gap-2 sm:col-span-2">
        <Button onClick={onCancel}>{t('common.cancel')}</Button>
        <Button variant="primary" type="submit" busy={mutation.busy}>
          {t('credential.save')}
        </Button>
      </div>
    </form>
  )
}

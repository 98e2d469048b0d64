import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SelectField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { CreateSecretStore, type SecretStore, UpdateSecretStore } from './secret-store-documents.ts'

type Kind = SecretStore['kind']
type Auth = SecretStore['auth']

const AUTHS = { VAULT: ['TOKEN', 'APP_ROLE'], AWS_SECRETS_MANAGER: ['ACCESS_KEY'] } as const satisfies Record<
  Kind,
  readonly Auth[]
>

type Props = { store: SecretStore | null; onClose: () => void; onDone: () => void }

/** Creates or edits a secret store. An empty secret keeps the stored one. */
export function SecretStoreDialog({ store, onClose, onDone }: Props) {
  const create = useMutation(CreateSecretStore)
  const update = useMutation(UpdateSecretStore)
  const mutation = store ? update : create
  const [kind, setKind] = useState<Kind>(store?.kind ?? 'VAULT')
  const [auth, setAuth] = useState<Auth>(store?.auth ?? 'TOKEN')
  const [form, setForm] = useState({
    name: store?.name ?? '',
    address: store?.address ?? '',
    mount: store?.mount ?? 'secret',
    namespace: store?.namespace ?? '',
    roleId: store?.roleId ?? '',
    region: store?.region ?? '',
    accessKeyId: store?.accessKeyId ?? '',
    secret: '',
  })
  // The stored secret applies only to the target that it was entered for.
  const isMoved =
    store !== null &&
    (form.address !== store.address ||
      auth !== store.auth ||
      form.region !== (store.region ?? '') ||
      form.accessKeyId !== (store.accessKeyId ?? ''))
  async function save() {
    const fields = {
      name: form.name,
      auth,
      // Without a change, an address of AWS follows the region.
      ...(form.address && form.address !== store?.address && { address: form.address }),
      ...(kind === 'VAULT'
        ? {
            mount: form.mount || null,
            namespace: form.namespace || null,
            roleId: auth === 'APP_ROLE' ? form.roleId || null : null,
          }
        : { region: form.region || null, accessKeyId: form.accessKeyId || null }),
    }
    const outcome = store
      ? await update.run({ input: { id: store.id, ...fields, ...(form.secret && { secret: form.secret }) } })
      : await create.run({ input: { kind, ...fields, secret: form.secret } })
    if (!outcome.ok) return
    toast('ok', t('secretStores.saved', { name: form.name }))
    onDone()
    onClose()
  }
  const field = (key: keyof typeof form) => ({
    value: form[key],
    onChange: (event: { target: { value: string } }) => setForm((before) => ({ ...before, [key]: event.target.value })),
    error: issueFor(mutation.problem, key),
    autoComplete: 'off',
  })
  function changeKind(next: Kind) {
    setKind(next)
    setAuth(AUTHS[next][0])
  }
  return (
    <Dialog
      wide
      title={store ? t('secretStores.editTitle', { name: store.name }) : t('secretStores.new')}
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
      <div className="grid gap-4 sm:grid-cols-2">
        {mutation.problem && mutation.problem.issues.length === 0 && (
          <div className="sm:col-span-2">
            <Notice tone="bad">{mutation.problem.message}</Notice>
          </div>
        )}
        <TextField label={t('credential.name')} autoFocus {...field('name')} />
        <SelectField
          label={t('credential.kind')}
          value={kind}
          disabled={store !== null}
          onChange={(event) => changeKind(event.target.value as Kind)}
        >
          {(Object.keys(AUTHS) as Kind[]).map((each) => (
            <option key={each} value={each}>
              {t(`secretStores.kind.${each}`)}
            </option>
          ))}
        </SelectField>
        <TextField
          className="sm:col-span-2"
          label={t('secretStores.address')}
          hint={t(`secretStores.addressHint.${kind}`)}
          optional={kind === 'AWS_SECRETS_MANAGER'}
          mono
          {...field('address')}
        />
        <SelectField
          label={t('secretStores.authLabel')}
          value={auth}
          error={issueFor(mutation.problem, 'auth')}
          onChange={(event) => setAuth(event.target.value as Auth)}
        >
          {AUTHS[kind].map((each) => (
            <option key={each} value={each}>
              {t(`secretStores.auth.${each}`)}
            </option>
          ))}
        </SelectField>
        {kind === 'VAULT' ? (
          <>
            {auth === 'APP_ROLE' && <TextField label={t('secretStores.roleId')} mono {...field('roleId')} />}
            <TextField label={t('secretStores.mount')} hint={t('secretStores.mountHint')} mono {...field('mount')} />
            <TextField label={t('secretStores.namespace')} optional mono {...field('namespace')} />
          </>
        ) : (
          <>
            <TextField label={t('secretStores.region')} hint={t('secretStores.regionHint')} mono {...field('region')} />
            <TextField label={t('secretStores.accessKeyId')} mono {...field('accessKeyId')} />
          </>
        )}
        <TextField
          className="sm:col-span-2"
          label={t(`secretStores.secret.${auth}`)}
          hint={store ? t(isMoved ? 'secretStores.reenter' : 'credential.keepStored') : t('secretStores.secretHint')}
          type="password"
          {...field('secret')}
          autoComplete="new-password"
        />
      </div>
    </Dialog>
  )
}

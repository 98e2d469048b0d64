'use client'
import { useState } from 'react'
import { useFreshClient } from '@/graphql/fresh-client.ts'
import { useConnection } from '@/graphql/use-connection.ts'
import { issueFor, type Problem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Failure } from '@/ui/failure.tsx'
import { TextField } from '@/ui/field.tsx'
import { Panel } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'
import { useViewer } from '../viewer.tsx'
import {
  FinishPasskeyRegistration,
  type Passkey,
  PasskeysQuery,
  RemovePasskey,
  RenamePasskey,
  StartPasskeyRegistration,
} from './passkey-documents.ts'
import { createPasskey, rememberPasskey } from './passkeys.ts'
import { PasswordStep } from './password-step.tsx'

type Action = { kind: 'add' } | { kind: 'rename' | 'remove'; passkey: Passkey }

/** The passkeys of the user: add, rename, remove. */
export function PasskeyPanel() {
  const { addPasskeyBlockedReason, signInMethods } = useViewer()
  const list = useConnection('passkeys', PasskeysQuery, {}, (data) => data.passkeys)
  const restart = useFreshClient()
  const [action, setAction] = useState<Action | null>(null)
  const onClose = () => setAction(null)
  const removeBlockedReason = signInMethods.find(({ kind }) => kind === 'PASSKEY')?.removeBlockedReason ?? null
  function onChanged(message: string) {
    toast('ok', message)
    onClose()
    // The viewer's sign-in methods changed, too.
    restart()
  }
  return (
    <Panel
      title={t('passkeys.title')}
      flush
      actions={
        <Button blockedReason={addPasskeyBlockedReason} onClick={() => setAction({ kind: 'add' })}>
          {t('passkeys.add')}
        </Button>
      }
    >
      {list.problem && list.rows.length === 0 ? (
        <div className="p-4">
          <Failure title={t('passkeys.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
        </div>
      ) : list.isLoading ? (
        <SkeletonRows rows={1} height={56} />
      ) : list.rows.length === 0 ? (
        <p className="p-4 text-sm text-muted">{t('passkeys.empty')}</p>
      ) : (
        <ul>
          {list.rows.map((passkey) => (
            <PasskeyLine
              key={passkey.id}
              passkey={passkey}
              removeBlockedReason={removeBlockedReason}
              onAction={(kind) => setAction({ kind, passkey })}
            />
          ))}
        </ul>
      )}
      {action?.kind === 'add' && <AddDialog onAdded={() => onChanged(t('passkeys.added'))} onClose={onClose} />}
      {action?.kind === 'rename' && (
        <RenameDialog passkey={action.passkey} onRenamed={() => onChanged(t('passkeys.renamed'))} onClose={onClose} />
      )}
      {action?.kind === 'remove' && (
        <RemoveDialog passkey={action.passkey} onRemoved={() => onChanged(t('passkeys.removed'))} onClose={onClose} />
      )}
    </Panel>
  )
}

type LineProps = { passkey: Passkey; removeBlockedReason: string | null; onAction: (kind: 'rename' | 'remove') => void }

function PasskeyLine({ passkey: { name, deviceType, createdAt, lastUsedAt }, removeBlockedReason, onAction }: LineProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-4 py-3 text-sm last:border-0">
      <div className="min-w-0 flex-1 basis-52">
        <div className="flex flex-wrap items-center gap-2">
          <span className="min-w-0 font-medium break-words">{name}</span>
          <Badge>{t(`passkeys.deviceType.${deviceType}`)}</Badge>
        </div>
        <div className="flex flex-wrap gap-x-4 text-xs text-muted">
          <span>{t.rich('passkeys.created', { time: () => <RelativeTime at={createdAt} /> })}</span>
          <span>
            {lastUsedAt
              ? t.rich('credential.lastUsed', { time: () => <RelativeTime at={lastUsedAt} /> })
              : t('passkeys.neverUsed')}
          </span>
        </div>
      </div>
      <div className="flex gap-2">
        <Button onClick={() => onAction('rename')}>{t('passkeys.rename')}</Button>
        <Button variant="danger" blockedReason={removeBlockedReason} onClick={() => onAction('remove')}>
          {t('passkeys.remove')}
        </Button>
      </div>
    </li>
  )
}

function AddDialog({ onAdded, onClose }: { onAdded: () => void; onClose: () => void }) {
  const start = useMutation(StartPasskeyRegistration)
  const add = useMutation(FinishPasskeyRegistration)
  const [name, setName] = useState('')
  const [refusal, setRefusal] = useState<Problem | null>(null)
  async function submit(currentPassword: string | null) {
    setRefusal(null)
    const started = await start.run({ input: { currentPassword } })
    if (!started.ok) return
    const { challenge, options } = started.value
    const { response, problem } = await createPasskey(options)
    if (problem !== null) return setRefusal({ message: problem, code: 'CANCELED', issues: [] })
    if (!(await add.run({ input: { challenge, response, name } })).ok) return
    rememberPasskey()
    onAdded()
  }
  const answerProblem = add.problem && !issueFor(add.problem, 'name') ? { ...add.problem, issues: [] } : add.problem
  return (
    <PasswordStep
      title={t('passkeys.add')}
      text={t('passkeys.addText')}
      submitLabel={t('mfa.continue')}
      mutation={{ busy: start.busy || add.busy, problem: start.problem ?? refusal ?? answerProblem }}
      blockedReason={name.trim() ? null : t('passkeys.needName')}
      onSubmit={(password) => void submit(password)}
      onClose={onClose}
    >
      <TextField
        label={t('passkeys.name')}
        hint={t('passkeys.nameHint')}
        autoComplete="off"
        maxLength={100}
        value={name}
        error={issueFor(add.problem, 'name')}
        onChange={(event) => setName(event.target.value)}
      />
    </PasswordStep>
  )
}

function RenameDialog({ passkey, onRenamed, onClose }: { passkey: Passkey; onRenamed: () => void; onClose: () => void }) {
  const rename = useMutation(RenamePasskey)
  const [name, setName] = useState(passkey.name)
  async function submit() {
    if ((await rename.run({ input: { id: passkey.id, name } })).ok) onRenamed()
  }
  return (
    <Dialog
      title={t('passkeys.rename')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant="primary"
            busy={rename.busy}
            showReason
            blockedReason={name.trim() ? null : t('passkeys.needName')}
            onClick={() => void submit()}
          >
            {t('common.save')}
          </Button>
        </>
      }
    >
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (!rename.busy && name.trim()) void submit()
        }}
      >
        <TextField
          label={t('passkeys.name')}
          autoComplete="off"
          maxLength={100}
          value={name}
          error={issueFor(rename.problem, 'name') ?? rename.problem?.message}
          onChange={(event) => setName(event.target.value)}
        />
      </form>
    </Dialog>
  )
}

function RemoveDialog({ passkey, onRemoved, onClose }: { passkey: Passkey; onRemoved: () => void; onClose: () => void }) {
  const remove = useMutation(RemovePasskey)
  async function submit(currentPassword: string | null) {
    if ((await remove.run({ input: { id: passkey.id, currentPassword } })).ok) onRemoved()
  }
  return (
    <PasswordStep
      title={t('passkeys.removeTitle', { name: passkey.name })}
      text={t('passkeys.removeText')}
      submitLabel={t('passkeys.remove')}
      danger
      mutation={remove}
      onSubmit={(password) => void submit(password)}
      onClose={onClose}
    />
  )
}

'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { CreateServiceAccount } from './member-documents.ts'
import { RoleField } from './role-field.tsx'

/** Creates a service account, which owns API tokens and cannot sign in. */
export function ServiceAccountDialog({ onClose, onCreated }: { onClose: () => void; onCreated: () => void }) {
  const { run, busy, problem } = useMutation(CreateServiceAccount)
  const [name, setName] = useState('')
  const [role, setRole] = useState('viewer')
  const blockedReason = name.trim() ? null : t('tokens.needName')
  async function create() {
    if (!(await run({ input: { name, role } })).ok) return
    toast('ok', t('serviceAccounts.created', { name: name.trim() }))
    onCreated()
    onClose()
  }
  return (
    <Dialog
      title={t('serviceAccounts.new')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button variant="primary" busy={busy} showReason blockedReason={blockedReason} onClick={() => void create()}>
            {t('serviceAccounts.create')}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!blockedReason && !busy) void create()
        }}
      >
        <p className="text-sm text-muted">{t('serviceAccounts.lead')}</p>
        {problem && problem.issues.length === 0 && <Notice tone="bad">{problem.message}</Notice>}
        <TextField
          label={t('tokens.name')}
          hint={t('serviceAccounts.nameHint')}
          autoFocus
          value={name}
          error={issueFor(problem, 'name')}
          onChange={(event) => setName(event.target.value)}
        />
        <RoleField value={role} error={issueFor(problem, 'role')} onChange={setRole} />
      </form>
    </Dialog>
  )
}

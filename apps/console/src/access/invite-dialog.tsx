'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { SecretText } from '@/ui/secret-text.tsx'
import { InviteMember } from './member-documents.ts'
import { RoleField } from './role-field.tsx'

type Sent = { email: string; link: string | null; deliveryProblem: string | null }

/** Invites a person. Without a mail server, or when sending fails, it shows the link once. */
export function InviteDialog({ onClose, onInvited }: { onClose: () => void; onInvited: () => void }) {
  const mutation = useMutation(InviteMember)
  const [email, setEmail] = useState('')
  const [role, setRole] = useState('operator')
  const [sent, setSent] = useState<Sent | null>(null)
  async function invite() {
    const outcome = await mutation.run({ input: { email, role } })
    if (!outcome.ok) return
    const { link, deliveryProblem, invitation } = outcome.value
    setSent({ email: invitation.email, link, deliveryProblem })
    onInvited()
  }
  if (sent)
    return (
      <Dialog
        title={t('members.invitedTitle')}
        onClose={onClose}
        footer={
          <Button variant="primary" onClick={onClose}>
            {t('tokens.createdDone')}
          </Button>
        }
      >
        <div className="flex flex-col gap-3 text-sm">
          {sent.deliveryProblem && <Notice tone="bad">{sent.deliveryProblem}</Notice>}
          {sent.link === null ? (
            <p>{t('members.mailSent', { email: sent.email })}</p>
          ) : (
            <>
              <Notice tone="warn">{t('members.linkOnce', { email: sent.email })}</Notice>
              <SecretText testId="invitation-link" text={sent.link} />
            </>
          )}
        </div>
      </Dialog>
    )
  return (
    <Dialog
      title={t('members.invite')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant="primary"
            busy={mutation.busy}
            showReason
            blockedReason={email.trim() ? null : t('members.needEmail')}
            onClick={() => void invite()}
          >
            {t('members.invite')}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (email.trim()) void invite()
        }}
      >
        {mutation.problem && mutation.problem.issues.length === 0 && <Notice tone="bad">{mutation.problem.message}</Notice>}
        <TextField
          label={t('signIn.email')}
          type="email"
          autoFocus
          value={email}
          error={issueFor(mutation.problem, 'email')}
          onChange={(event) => setEmail(event.target.value)}
        />
        <RoleField value={role} onChange={setRole} />
      </form>
    </Dialog>
  )
}

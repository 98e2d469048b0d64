'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { RequestEmailChange } from './session-documents.ts'
import { PasswordStep } from './sign-in/password-step.tsx'
import { useViewer } from './viewer.tsx'

/** The email address of the user. A new one takes effect with a link that is sent to it. */
export function EmailPanel() {
  const { user, changeEmailBlockedReason } = useViewer()
  const [isOpen, setOpen] = useState(false)
  const [sentTo, setSentTo] = useState<string | null>(null)
  return (
    <Panel
      title={t('email.title')}
      actions={
        <Button blockedReason={changeEmailBlockedReason} onClick={() => setOpen(true)}>
          {t('email.change')}
        </Button>
      }
    >
      <div className="flex flex-col gap-3 text-sm">
        <p className="break-words">{user?.email}</p>
        {changeEmailBlockedReason && <p className="text-xs text-muted">{changeEmailBlockedReason}</p>}
        {sentTo && <Notice tone="info">{t('email.sent', { email: sentTo })}</Notice>}
      </div>
      {isOpen && (
        <ChangeDialog
          onSent={(email) => {
            setSentTo(email)
            setOpen(false)
          }}
          onClose={() => setOpen(false)}
        />
      )}
    </Panel>
  )
}

function ChangeDialog({ onSent, onClose }: { onSent: (email: string) => void; onClose: () => void }) {
  const mutation = useMutation(RequestEmailChange)
  const [email, setEmail] = useState('')
  async function submit(currentPassword: string | null) {
    const outcome = await mutation.run({ input: { email, currentPassword } })
    if (outcome.ok) onSent(outcome.value.email)
  }
  return (
    <PasswordStep
      title={t('email.change')}
      text={t('email.text')}
      submitLabel={t('email.send')}
      mutation={mutation}
      blockedReason={email.trim() ? null : t('email.need')}
      onSubmit={(password) => void submit(password)}
      onClose={onClose}
    >
      <TextField
        label={t('email.new')}
        type="email"
        autoComplete="email"
        autoFocus
        value={email}
        error={issueFor(mutation.problem, 'email')}
        onChange={(event) => setEmail(event.target.value)}
      />
    </PasswordStep>
  )
}

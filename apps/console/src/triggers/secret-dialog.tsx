'use client'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Notice } from '@/ui/notice.tsx'
import { SecretText } from '@/ui/secret-text.tsx'

export type ShownSecret = { secret: string; trigger: { name: string; url: string } }

/** The secret of a trigger, which is shown once. */
export function SecretDialog({ shown: { secret, trigger }, onClose }: { shown: ShownSecret; onClose: () => void }) {
  return (
    <Dialog
      title={t('trigger.secretTitle', { name: trigger.name })}
      onClose={onClose}
      footer={
        <Button variant="primary" onClick={onClose}>
          {t('tokens.createdDone')}
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        <Notice tone="warn">{t('trigger.once')}</Notice>
        <p className="text-sm font-medium">{t('trigger.secret')}</p>
        <SecretText testId="trigger-secret" text={secret} />
        <p className="text-sm font-medium">{t('trigger.url')}</p>
        <SecretText testId="trigger-url" text={trigger.url} />
      </div>
    </Dialog>
  )
}

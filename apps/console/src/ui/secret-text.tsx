import { t } from '@/messages/index.ts'
import { CopyButton } from './copy-button.tsx'

/** A secret that is shown once, with a button that copies it. */
export function SecretText({ text, testId }: { text: string; testId: string }) {
  return (
    <div className="flex items-center gap-2 rounded-md border border-line bg-sunken p-2">
      <code data-testid={testId} className="min-w-0 flex-1 font-mono text-xs break-all">
        {text}
      </code>
      <CopyButton quiet={false} text={text} label={t('common.copy')} />
    </div>
  )
}

'use client'
import { t } from '@/messages/index.ts'
import { Dialog } from '@/ui/dialog.tsx'

const keys = [
  [['/'], 'help.search'],
  [['?'], 'help.open'],
  [['Esc'], 'help.close'],
  [['g', 'f'], 'help.goFleet'],
  [['g', 'n'], 'help.goNodes'],
  [['g', 'a'], 'help.goAdd'],
  [['g', 'r'], 'help.goRuns'],
  [['g', 'l'], 'help.goAlerts'],
  [['g', 'c'], 'help.goCredentials'],
  [['g', 't'], 'help.goTokens'],
  [['Shift', '↵'], 'help.searchBack'],
] as const

/** The list of keyboard shortcuts. */
export function HelpDialog({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title={t('help.title')} onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] items-center gap-x-6 gap-y-2.5 text-sm">
        {keys.map(([combination, label]) => (
          <div key={label} className="contents">
            <dt className="flex gap-1">
              {combination.map((key) => (
                <kbd
                  key={key}
                  className="grid h-6 min-w-6 place-items-center rounded border border-line-strong bg-sunken px-1.5 font-mono text-xs"
                >
                  {key}
                </kbd>
              ))}
            </dt>
            <dd>{t(label)}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  )
}

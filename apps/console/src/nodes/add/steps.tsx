import clsx from 'clsx'
import { Check } from 'lucide-react'
import { t } from '@/messages/index.ts'

const names = ['wizard.step1', 'wizard.step2', 'wizard.step3'] as const

/** The steps of the wizard. */
export function Steps({ at }: { at: 1 | 2 | 3 }) {
  return (
    <ol className="flex flex-wrap gap-x-6 gap-y-2 pb-5" aria-label={t('wizard.steps')}>
      {names.map((name, index) => {
        const step = index + 1
        const isDone = step < at
        return (
          <li
            key={name}
            aria-current={step === at ? 'step' : undefined}
            className={clsx('flex items-center gap-2 text-sm', step === at ? 'font-medium' : 'text-muted')}
          >
            <span
              className={clsx(
                'grid size-5 place-items-center rounded-full text-xs tabular-nums',
                isDone ? 'bg-ok-soft text-ok' : step === at ? 'bg-accent text-on-accent' : 'bg-hover text-muted',
              )}
            >
              {isDone ? <Check className="size-3" aria-label={t('wizard.done')} /> : step}
            </span>
            {t(name)}
          </li>
        )
      })}
    </ol>
  )
}

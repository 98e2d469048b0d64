import clsx from 'clsx'
import { CircleAlert, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'

const tones = {
  info: ['border-line-strong bg-panel text-text', Info],
  warn: ['border-warn-dot/50 bg-warn-soft text-warn', TriangleAlert],
  bad: ['border-bad-dot/50 bg-bad-soft text-bad', CircleAlert],
} as const

/** A message about the page. `action` is the next step. */
export function Notice({
  tone = 'info',
  children,
  action,
  title,
}: {
  tone?: keyof typeof tones
  children?: ReactNode
  action?: ReactNode
  title?: string
}) {
  const [style, Icon] = tones[tone]
  return (
    <div
      role={tone === 'info' ? undefined : 'alert'}
      className={clsx('flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border px-3 py-2 text-sm', style)}
    >
      <Icon className="size-4 shrink-0 self-start mt-0.5" aria-hidden />
      <div className="min-w-0 flex-1 basis-60 break-words">
        {title && <p className="font-semibold">{title}</p>}
        {children}
      </div>
      {action}
    </div>
  )
}

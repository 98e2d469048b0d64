import { CircleAlert, Info, TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { cx } from './cx.ts'

const looks = {
  info: ['border-line-strong bg-panel text-text', Info],
  warn: ['border-warn-dot/50 bg-warn-soft text-warn', TriangleAlert],
  bad: ['border-bad-dot/50 bg-bad-soft text-bad', CircleAlert],
} as const

/** Something the reader must know about what is on screen. `action` is the next step. */
export function Notice({
  tone = 'info',
  children,
  action,
  title,
}: {
  tone?: keyof typeof looks
  children?: ReactNode
  action?: ReactNode
  title?: string
}) {
  const [look, Icon] = looks[tone]
  return (
    <div
      role={tone === 'info' ? undefined : 'alert'}
      className={cx('flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border px-3 py-2 text-sm', look)}
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

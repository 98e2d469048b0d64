import type { ReactNode } from 'react'
import { cx } from './cx.ts'

export type Tone = 'neutral' | 'ok' | 'warn' | 'bad' | 'accent'
const soft: Record<Tone, string> = {
  neutral: 'bg-text/7 text-muted',
  ok: 'bg-ok-soft text-ok',
  warn: 'bg-warn-soft text-warn',
  bad: 'bg-bad-soft text-bad',
  accent: 'bg-accent-soft text-accent',
}
const dots: Record<Tone, string> = {
  neutral: 'bg-faint',
  ok: 'bg-ok-dot',
  warn: 'bg-warn-dot',
  bad: 'bg-bad-dot',
  accent: 'bg-accent',
}

/** A short fact on a soft ground. */
export function Badge({
  tone = 'neutral',
  children,
  mono,
  title,
}: {
  tone?: Tone
  children: ReactNode
  mono?: boolean
  title?: string
}) {
  return (
    <span
      title={title}
      className={cx(
        'inline-flex h-5 max-w-full items-center gap-1 rounded px-1.5 text-xs font-medium whitespace-nowrap',
        soft[tone],
        mono && 'font-mono',
      )}
    >
      {children}
    </span>
  )
}

/** A state: a dot for the eye, the word for everyone. `busy` breathes. */
export function State({ tone, children, busy, title }: { tone: Tone; children: ReactNode; busy?: boolean; title?: string }) {
  return (
    <span title={title} className="inline-flex items-center gap-1.5 text-sm whitespace-nowrap">
      <span className={cx('size-2 shrink-0 rounded-full', dots[tone], busy && 'pulse')} aria-hidden />
      {children}
    </span>
  )
}

import clsx from 'clsx'
import type { ReactNode } from 'react'

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

/** A short label on a tinted background. */
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
      className={clsx(
        'inline-flex h-5 max-w-full items-center gap-1 rounded px-1.5 text-xs font-medium whitespace-nowrap',
        soft[tone],
        mono && 'font-mono',
      )}
    >
      {children}
    </span>
  )
}

/** A state as a colored dot and its name. `busy` pulses. */
export function State({ tone, children, busy, title }: { tone: Tone; children: ReactNode; busy?: boolean; title?: string }) {
  return (
    <span title={title} className="inline-flex items-center gap-1.5 text-sm whitespace-nowrap">
      <span className={clsx('size-2 shrink-0 rounded-full', dots[tone], busy && 'pulse')} aria-hidden />
      {children}
    </span>
  )
}

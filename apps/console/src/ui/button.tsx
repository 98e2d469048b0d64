'use client'
import { LoaderCircle } from 'lucide-react'
import Link from 'next/link'
import type { ComponentProps, ReactNode } from 'react'
import { cx } from './cx.ts'
import { Tooltip } from './tooltip.tsx'

type Look = 'primary' | 'plain' | 'quiet' | 'danger'
const looks: Record<Look, string> = {
  primary: 'border-transparent bg-accent text-on-accent hover:bg-accent-hover',
  plain: 'border-line-strong bg-panel text-text hover:bg-hover',
  quiet: 'border-transparent bg-transparent text-muted hover:bg-hover hover:text-text',
  danger: 'border-line-strong bg-panel text-bad hover:bg-bad-soft',
}
const shape =
  'inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md border px-3 text-sm font-medium whitespace-nowrap select-none transition-colors [&_svg]:size-3.5 [&_svg]:shrink-0'

type Common = { look?: Look; icon?: ReactNode; children?: ReactNode; className?: string }
type ButtonProps = Common &
  Omit<ComponentProps<'button'>, 'children'> & { busy?: boolean; blockedReason?: string | null; label?: string }

/**
 * A button. `blockedReason` makes it unusable but leaves it reachable, with the reason as its tooltip: a dead button without a word
 * helps nobody. `label` names a button that shows only an icon.
 */
export function Button({
  look = 'plain',
  icon,
  busy,
  blockedReason,
  label,
  children,
  className,
  onClick,
  type,
  ...rest
}: ButtonProps) {
  const isBlocked = Boolean(blockedReason) || busy
  return (
    <Tooltip text={blockedReason ?? (children ? null : label)}>
      <button
        {...rest}
        type={type ?? 'button'}
        aria-label={label}
        aria-disabled={isBlocked || undefined}
        aria-busy={busy || undefined}
        onClick={(event) => (isBlocked ? event.preventDefault() : onClick?.(event))}
        className={cx(shape, looks[look], !children && 'w-8 px-0', isBlocked && 'opacity-55', className)}
      >
        {busy ? <LoaderCircle className="animate-spin" aria-hidden /> : icon}
        {children}
      </button>
    </Tooltip>
  )
}

/** A link that looks like a button. */
export function ButtonLink({
  look = 'plain',
  icon,
  children,
  className,
  ...rest
}: Common & Omit<ComponentProps<typeof Link>, 'children'>) {
  return (
    <Link {...rest} className={cx(shape, looks[look], className)}>
      {icon}
      {children}
    </Link>
  )
}

'use client'
import clsx from 'clsx'
import { LoaderCircle } from 'lucide-react'
import Link from 'next/link'
import { type ComponentProps, type ReactNode, useId } from 'react'
import { Tooltip } from './tooltip.tsx'

type Variant = 'primary' | 'plain' | 'quiet' | 'danger'
const variants: Record<Variant, string> = {
  primary: 'border-transparent bg-accent text-on-accent hover:bg-accent-hover',
  plain: 'border-line-strong bg-panel text-text hover:bg-hover',
  quiet: 'border-transparent bg-transparent text-muted hover:bg-hover hover:text-text',
  danger: 'border-line-strong bg-panel text-bad hover:bg-bad-soft',
}
const shape =
  'inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-md border px-3 text-sm font-medium whitespace-nowrap select-none transition-colors [&_svg]:size-3.5 [&_svg]:shrink-0'

type Common = { variant?: Variant; icon?: ReactNode; children?: ReactNode; className?: string }
type ButtonProps = Common &
  Omit<ComponentProps<'button'>, 'children'> & {
    busy?: boolean
    blockedReason?: string | null
    label?: string
    showReason?: boolean
  }

/**
 * A button. `blockedReason` disables it but keeps it focusable and shows the reason as a tooltip; `showReason` shows it beside the
 * button instead, for the end of a form. `label` names a button with only an icon.
 */
export function Button({
  variant = 'plain',
  icon,
  busy,
  blockedReason,
  showReason,
  label,
  children,
  className,
  onClick,
  type,
  ...rest
}: ButtonProps) {
  const isBlocked = Boolean(blockedReason) || busy
  const reasonId = useId()
  const hasVisibleReason = showReason && Boolean(blockedReason)
  const button = (
    <button
      {...rest}
      type={type ?? 'button'}
      aria-label={label ?? rest['aria-label']}
      aria-disabled={isBlocked || undefined}
      aria-busy={busy || undefined}
      aria-describedby={hasVisibleReason ? reasonId : undefined}
      aria-description={hasVisibleReason ? undefined : (blockedReason ?? undefined)}
      onClick={(event) => (isBlocked ? event.preventDefault() : onClick?.(event))}
      className={clsx(shape, variants[variant], !children && 'w-8 px-0', isBlocked && 'opacity-55', className)}
    >
      {busy ? <LoaderCircle className="animate-spin" aria-hidden /> : icon}
      {children}
    </button>
  )
  if (showReason)
    return (
      <span className="inline-flex flex-wrap items-center gap-3">
        {button}
        {blockedReason && (
          <span id={reasonId} data-reason className="text-xs text-muted">
            {blockedReason}
          </span>
        )}
      </span>
    )
  return (
    <Tooltip id={rest.id} text={blockedReason ?? (children ? null : label)} opensOnClick={Boolean(blockedReason)}>
      {button}
    </Tooltip>
  )
}

/** A link styled as a button. */
export function ButtonLink({
  variant = 'plain',
  icon,
  children,
  className,
  ...rest
}: Common & Omit<ComponentProps<typeof Link>, 'children'>) {
  return (
    <Link {...rest} className={clsx(shape, variants[variant], className)}>
      {icon}
      {children}
    </Link>
  )
}

'use client'
import { LoaderCircle } from 'lucide-react'
import Link from 'next/link'
import { type ComponentProps, type ReactNode, useId } from 'react'
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
  Omit<ComponentProps<'button'>, 'children'> & {
    busy?: boolean
    blockedReason?: string | null
    label?: string
    saysReason?: boolean
  }

/**
 * A button. `blockedReason` makes it unusable but leaves it reachable, with the reason as its tooltip: a dead button without a word
 * helps nobody. `saysReason` writes it beside the button, where one looks for it at the end of a form. `label` names a button that shows only an icon.
 */
export function Button({
  look = 'plain',
  icon,
  busy,
  blockedReason,
  saysReason,
  label,
  children,
  className,
  onClick,
  type,
  ...rest
}: ButtonProps) {
  const isBlocked = Boolean(blockedReason) || busy
  const reasonId = useId()
  const isSaid = saysReason && Boolean(blockedReason)
  const button = (
    <button
      {...rest}
      type={type ?? 'button'}
      aria-label={label}
      aria-disabled={isBlocked || undefined}
      aria-busy={busy || undefined}
      aria-describedby={isSaid ? reasonId : undefined}
      onClick={(event) => (isBlocked ? event.preventDefault() : onClick?.(event))}
      className={cx(shape, looks[look], !children && 'w-8 px-0', isBlocked && 'opacity-55', className)}
    >
      {busy ? <LoaderCircle className="animate-spin" aria-hidden /> : icon}
      {children}
    </button>
  )
  if (isSaid)
    return (
      <span className="inline-flex flex-wrap items-center gap-3">
        {button}
        <span id={reasonId} className="text-xs text-muted">
          {blockedReason}
        </span>
      </span>
    )
  return (
    <Tooltip text={blockedReason ?? (children ? null : label)} atClick={Boolean(blockedReason)}>
      {button}
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

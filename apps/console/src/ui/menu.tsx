'use client'
import { type ReactNode, useId, useRef } from 'react'
import { Button } from './button.tsx'
import { cx } from './cx.ts'

/** A button that opens a small panel under it (browser popover: closes on Esc and on a click elsewhere). */
export function Menu({
  label,
  icon,
  children,
  badge,
  quiet,
  align = 'left',
  iconOnly,
}: {
  label: string
  icon?: ReactNode
  children: ReactNode
  badge?: number
  quiet?: boolean
  align?: 'left' | 'right'
  iconOnly?: boolean
}) {
  const id = useId()
  const panel = useRef<HTMLDivElement>(null)
  const anchor = useRef<HTMLDivElement>(null)
  function place() {
    const box = anchor.current?.getBoundingClientRect()
    const element = panel.current
    if (!box || !element) return
    const width = element.offsetWidth
    const left = align === 'left' ? box.left : box.right - width
    element.style.left = `${Math.max(8, Math.min(left, innerWidth - width - 8))}px`
    const isAbove = box.bottom + element.offsetHeight + 12 > innerHeight && box.top > element.offsetHeight + 12
    element.style.top = `${isAbove ? box.top - element.offsetHeight - 4 : box.bottom + 4}px`
    element.style.visibility = 'visible'
    element.style.maxHeight = `${isAbove ? box.top - 16 : Math.max(160, innerHeight - box.bottom - 16)}px`
  }
  return (
    <div ref={anchor} className="inline-flex">
      <Button
        look={quiet ? 'quiet' : 'plain'}
        icon={icon}
        label={iconOnly ? label : undefined}
        aria-haspopup="true"
        popoverTarget={id}
      >
        {iconOnly ? undefined : (
          <>
            {label}
            {Boolean(badge) && (
              <span className="grid h-4 min-w-4 place-items-center rounded-full bg-accent px-1 text-[10px] text-on-accent">
                {badge}
              </span>
            )}
          </>
        )}
      </Button>
      {/* Hidden until it is measured and placed, which can only happen once it is open. */}
      <div
        ref={panel}
        id={id}
        popover="auto"
        onBeforeToggle={(event) => event.newState === 'open' && event.currentTarget.style.setProperty('visibility', 'hidden')}
        onToggle={(event) => event.newState === 'open' && place()}
        className="fixed m-0 overflow-auto rounded-lg border border-line-strong bg-panel p-1 shadow-float"
      >
        {children}
      </div>
    </div>
  )
}

const line = 'flex w-full items-center gap-2 rounded px-2.5 py-1.5 text-left text-sm hover:bg-hover [&_svg]:size-3.5'

function close(item: HTMLElement) {
  item.closest<HTMLElement>('[popover]')?.hidePopover()
}

/** A line of a menu that downloads what is at an address; a failure leaves the page as it is. */
export function MenuDownload({ href, children }: { href: string; children: ReactNode }) {
  return (
    <a href={href} download onClick={(event) => close(event.currentTarget)} className={line}>
      {children}
    </a>
  )
}

/** One line of a menu; choosing it closes the menu. */
export function MenuItem({
  children,
  onClick,
  danger,
  blockedReason,
  icon,
}: {
  children: ReactNode
  onClick: () => void
  danger?: boolean
  blockedReason?: string | null
  icon?: ReactNode
}) {
  return (
    <button
      type="button"
      aria-disabled={blockedReason ? true : undefined}
      onClick={(event) => {
        if (blockedReason) return
        close(event.currentTarget)
        onClick()
      }}
      className={cx(line, danger && 'text-bad', blockedReason && 'opacity-60')}
    >
      {icon}
      <span className="min-w-0">
        {children}
        {blockedReason && <span className="block max-w-60 text-xs text-muted">{blockedReason}</span>}
      </span>
    </button>
  )
}

'use client'
import { type ReactNode, useId, useRef } from 'react'

/** Text that appears at pointer or focus, and `atClick` at any touch as well, placed in the top layer so that no scrolling box cuts it off. Esc puts it away. */
export function Tooltip({
  text,
  children,
  className,
  atClick,
}: {
  text: string | null | undefined
  children: ReactNode
  className?: string
  atClick?: boolean
}) {
  const id = useId()
  const tip = useRef<HTMLDivElement>(null)
  const anchor = useRef<HTMLSpanElement>(null)
  if (!text) return <>{children}</>

  function show() {
    const box = anchor.current?.getBoundingClientRect()
    const element = tip.current
    if (!box || !element) return
    element.showPopover()
    const { width, height } = element.getBoundingClientRect()
    const isBelow = box.top < height + 12
    element.style.left = `${Math.max(8, Math.min(box.left + box.width / 2 - width / 2, innerWidth - width - 8))}px`
    element.style.top = `${isBelow ? box.bottom + 6 : box.top - height - 6}px`
  }
  function hide() {
    if (tip.current?.matches(':popover-open')) tip.current.hidePopover()
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only listens to what its focusable child receives
    <span
      ref={anchor}
      className={className ?? 'inline-flex'}
      onPointerEnter={(event) => event.pointerType === 'mouse' && show()}
      onPointerLeave={hide}
      // A finger or a click focuses too; only who came by keyboard needs to be told.
      onFocus={(event) => event.target.matches(':focus-visible') && show()}
      onClick={atClick ? show : undefined}
      onBlur={hide}
      onKeyDown={(event) => event.key === 'Escape' && hide()}
      aria-describedby={id}
    >
      {children}
      <div
        ref={tip}
        id={id}
        role="tooltip"
        popover="manual"
        className="pointer-events-none fixed m-0 max-w-80 rounded-md border border-line-strong bg-panel px-2.5 py-1.5 text-left text-xs font-normal whitespace-pre-line text-text normal-case shadow-float"
      >
        {text}
      </div>
    </span>
  )
}

'use client'
import { Popover as Base } from '@base-ui/react/popover'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { popupBox } from './popup-box.ts'

/** A button that opens a panel with form controls. `badge` counts active choices. */
export function Popover({
  label,
  icon,
  badge,
  children,
  align = 'start',
}: {
  label: string
  icon?: ReactNode
  badge?: number
  children: ReactNode
  align?: 'start' | 'end'
}) {
  return (
    <Base.Root>
      <Base.Trigger render={<Button icon={icon} />}>
        {label}
        {Boolean(badge) && (
          <span className="grid h-4 min-w-4 place-items-center rounded-full bg-accent px-1 text-[10px] text-on-accent">
            {badge}
          </span>
        )}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className="z-50" sideOffset={4} align={align} collisionPadding={8}>
          <Base.Popup aria-label={label} className={popupBox}>
            {children}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

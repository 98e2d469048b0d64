'use client'
import { Menu as Base } from '@base-ui/react/menu'
import clsx from 'clsx'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { popupBox } from './popup-box.ts'

/** A button that opens a menu of actions. */
export function Menu({
  label,
  icon,
  children,
  quiet,
  align = 'start',
  iconOnly,
}: {
  label: string
  icon?: ReactNode
  children: ReactNode
  quiet?: boolean
  align?: 'start' | 'end'
  iconOnly?: boolean
}) {
  return (
    <Base.Root modal={false}>
      <Base.Trigger
        render={
          <Button variant={quiet ? 'quiet' : 'plain'} icon={icon} label={iconOnly ? label : undefined} className="max-w-full" />
        }
      >
        {iconOnly ? undefined : <span className="truncate">{label}</span>}
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner className="z-50" sideOffset={4} align={align} collisionPadding={8}>
          <Base.Popup className={popupBox}>{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

const itemStyle =
  'flex w-full cursor-pointer items-center gap-2 rounded px-2.5 py-1.5 text-left text-sm outline-none data-highlighted:bg-hover [&_svg]:size-3.5 [&_svg]:shrink-0'

/** A menu item that downloads a file. */
export function MenuDownload({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Base.LinkItem href={href} download closeOnClick className={itemStyle}>
      {children}
    </Base.LinkItem>
  )
}

/** A menu item. A blocked item stays focusable and shows its reason. */
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
    <Base.Item
      disabled={Boolean(blockedReason)}
      onClick={onClick}
      className={clsx(itemStyle, danger && 'text-bad', 'data-disabled:cursor-not-allowed data-disabled:opacity-60')}
    >
      {icon}
      <span className="min-w-0">
        {children}
        {blockedReason && <span className="block max-w-60 text-xs text-muted">{blockedReason}</span>}
      </span>
    </Base.Item>
  )
}

/** One choice of several inside a menu; choosing keeps the menu open. */
export function MenuChoice<K extends string>({
  label,
  value,
  onChange,
  choices,
}: {
  label: string
  value: K
  onChange: (value: K) => void
  choices: readonly { key: K; label: string; icon?: ReactNode }[]
}) {
  return (
    <Base.Group>
      <Base.GroupLabel className="px-1 pb-1 text-xs text-muted">{label}</Base.GroupLabel>
      <Base.RadioGroup value={value} onValueChange={onChange} className="flex gap-1 rounded-md bg-sunken p-0.5">
        {choices.map((choice) => (
          <Base.RadioItem
            key={choice.key}
            value={choice.key}
            className="flex flex-1 cursor-pointer items-center justify-center gap-1 rounded px-1 py-1 text-xs whitespace-nowrap text-muted outline-none data-checked:bg-panel data-checked:text-text data-highlighted:text-text [&_svg]:size-3.5"
          >
            {choice.icon}
            {choice.label}
          </Base.RadioItem>
        ))}
      </Base.RadioGroup>
    </Base.Group>
  )
}

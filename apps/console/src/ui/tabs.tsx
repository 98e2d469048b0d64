'use client'
import { Tabs as Base } from '@base-ui/react/tabs'
import clsx from 'clsx'
import type { ReactNode } from 'react'

type Tab<K extends string> = { key: K; label: string; count?: number }

/** Tabs with the panel of the selected one as children. Arrow keys select. */
export function Tabs<K extends string>({
  tabs,
  value,
  onChange,
  label,
  children,
}: {
  tabs: Tab<K>[]
  value: K
  onChange: (key: K) => void
  label: string
  children: ReactNode
}) {
  return (
    <Base.Root value={value} onValueChange={onChange}>
      <Base.List activateOnFocus aria-label={label} className="flex gap-5 overflow-x-auto border-b border-line">
        {tabs.map((tab) => (
          <Base.Tab
            key={tab.key}
            value={tab.key}
            className={clsx(
              '-mb-px border-b-2 px-0.5 py-2 text-sm font-medium whitespace-nowrap',
              tab.key === value ? 'border-accent text-text' : 'border-transparent text-muted hover:text-text',
            )}
          >
            {tab.label}
            {tab.count !== undefined && <span className="ml-1.5 text-xs text-faint">{tab.count}</span>}
          </Base.Tab>
        ))}
      </Base.List>
      <Base.Panel key={value} value={value} className="pt-4">
        {children}
      </Base.Panel>
    </Base.Root>
  )
}

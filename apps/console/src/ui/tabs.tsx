'use client'
import { useRef } from 'react'
import { cx } from './cx.ts'

type Tab<K extends string> = { key: K; label: string; count?: number }

/** Tabs after the ARIA pattern: arrow keys move, the chosen one is in the tab order. The panel takes `id={panelId(key)}`. */
export function Tabs<K extends string>({
  tabs,
  value,
  onChange,
  label,
}: {
  tabs: Tab<K>[]
  value: K
  onChange: (key: K) => void
  label: string
}) {
  const list = useRef<HTMLDivElement>(null)
  function move(step: number) {
    const index = tabs.findIndex((tab) => tab.key === value)
    const next = tabs[(index + step + tabs.length) % tabs.length]
    if (!next) return
    onChange(next.key)
    list.current?.querySelector<HTMLElement>(`[data-key="${next.key}"]`)?.focus()
  }
  return (
    <div
      ref={list}
      role="tablist"
      aria-label={label}
      className="flex gap-5 overflow-x-auto border-b border-line"
      onKeyDown={(event) => {
        if (event.key === 'ArrowRight') move(1)
        if (event.key === 'ArrowLeft') move(-1)
      }}
    >
      {tabs.map((tab) => (
        <button
          key={tab.key}
          type="button"
          role="tab"
          id={`tab-${tab.key}`}
          data-key={tab.key}
          aria-selected={tab.key === value}
          aria-controls={panelId(tab.key)}
          tabIndex={tab.key === value ? 0 : -1}
          onClick={() => onChange(tab.key)}
          className={cx(
            '-mb-px border-b-2 px-0.5 py-2 text-sm font-medium whitespace-nowrap',
            tab.key === value ? 'border-accent text-text' : 'border-transparent text-muted hover:text-text',
          )}
        >
          {tab.label}
          {tab.count !== undefined && <span className="ml-1.5 text-xs text-faint">{tab.count}</span>}
        </button>
      ))}
    </div>
  )
}

export function panelId(key: string): string {
  return `panel-${key}`
}

export function TabPanel({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div role="tabpanel" id={panelId(name)} aria-labelledby={`tab-${name}`} className="pt-4">
      {children}
    </div>
  )
}

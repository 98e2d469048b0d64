import type { ReactNode } from 'react'

/** A select above a list. Its label is visible only to screen readers, because the options are self-explanatory. */
export function FilterSelect({
  label,
  value,
  onChange,
  className = '',
  children,
}: {
  label: string
  value: string
  onChange: (value: string) => void
  className?: string
  children: ReactNode
}) {
  return (
    <select
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      className={`h-8 max-w-full rounded-md border border-line-strong bg-panel px-2 text-sm ${className}`}
    >
      {children}
    </select>
  )
}

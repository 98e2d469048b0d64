import type { ReactNode } from 'react'

/** Page header: breadcrumb, title, count and actions. */
export function PageHead({
  title,
  count,
  children,
  above,
  below,
}: {
  title: ReactNode
  count?: ReactNode
  children?: ReactNode
  above?: ReactNode
  below?: ReactNode
}) {
  return (
    <div className="flex flex-col gap-1 pb-4">
      {above && <div className="text-sm text-muted">{above}</div>}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h1 className="mr-auto flex min-w-0 items-baseline gap-2 text-xl font-semibold tracking-tight">
          {title}
          {count !== undefined && <span className="text-base font-normal text-faint tabular-nums">{count}</span>}
        </h1>
        <div className="flex flex-wrap items-center gap-2">{children}</div>
      </div>
      {below}
    </div>
  )
}

/** A titled card. */
export function Panel({
  title,
  actions,
  children,
  flush,
}: {
  title?: string
  actions?: ReactNode
  children: ReactNode
  flush?: boolean
}) {
  return (
    <section className="rounded-lg border border-line bg-panel">
      {(title || actions) && (
        <header className="flex min-h-11 flex-wrap items-center justify-between gap-2 border-b border-line px-4 py-1.5">
          <h2 className="text-sm font-semibold">{title}</h2>
          {actions}
        </header>
      )}
      <div className={flush ? '' : 'p-4'}>{children}</div>
    </section>
  )
}

/** A two-column list of names and values. */
export function PropertyList({ rows }: { rows: [label: string, value: ReactNode][] }) {
  return (
    <dl className="grid grid-cols-[minmax(88px,150px)_minmax(0,1fr)] gap-x-4 gap-y-2 text-sm">
      {rows.map(([label, value]) => (
        <div key={label} className="contents">
          <dt className="text-muted">{label}</dt>
          <dd className="wrap-anywhere">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

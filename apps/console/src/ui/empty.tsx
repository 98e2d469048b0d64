import type { ReactNode } from 'react'

/** Empty state: what is missing, why, and the next step. */
export function Empty({
  icon,
  title,
  children,
  action,
}: {
  icon?: ReactNode
  title: string
  children?: ReactNode
  action?: ReactNode
}) {
  return (
    <div className="flex flex-col items-center gap-2 rounded-lg border border-dashed border-line-strong px-6 py-14 text-center">
      {icon && <div className="mb-1 grid size-10 place-items-center rounded-full bg-hover text-muted [&_svg]:size-5">{icon}</div>}
      <h2 className="text-base font-semibold">{title}</h2>
      {children && <div className="max-w-md text-sm text-muted">{children}</div>}
      {action && <div className="mt-3 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  )
}

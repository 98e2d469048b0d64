import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { ActionMenu } from './action-menu.tsx'
import type { NamedTargets } from './verbs.ts'

/** The actions on selected rows, at the bottom of the page. */
export function SelectionActions({
  clusterId,
  targets,
  onClear,
  onDone,
  children,
}: {
  clusterId: string
  targets: NamedTargets
  onClear: () => void
  onDone: () => void
  /** Further buttons. */
  children?: ReactNode
}) {
  return (
    <div className="pointer-events-none sticky bottom-16 z-20 mt-4 flex justify-center md:bottom-4">
      <div
        role="toolbar"
        aria-label={t('slurmAction.selected')}
        className="pointer-events-auto flex max-w-full flex-wrap items-center justify-center gap-2 rounded-xl border border-line-strong bg-panel p-2 pl-4 shadow-float"
      >
        <span className="text-sm font-medium tabular-nums" aria-live="polite">
          {t('nodes.selected', { count: targets.names.length })}
        </span>
        <Button variant="quiet" label={t('nodes.clearSelection')} icon={<X aria-hidden />} onClick={onClear} />
        {children}
        <ActionMenu clusterId={clusterId} targets={targets} onDone={onDone} />
      </div>
    </div>
  )
}

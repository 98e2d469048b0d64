import { Check, X } from 'lucide-react'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'

type Props = { count: number; blockedReason: string | null; onAcknowledge: () => void; onClear: () => void }

/** Actions on the selected alerts, at the bottom of the page. */
export function AlertSelectionBar({ count, blockedReason, onAcknowledge, onClear }: Props) {
  return (
    <div className="pointer-events-none sticky bottom-16 z-20 mt-4 flex justify-center md:bottom-4">
      <div
        role="toolbar"
        aria-label={t('alerts.selectedActions')}
        className="pointer-events-auto flex max-w-full flex-wrap items-center justify-center gap-2 rounded-xl border border-line-strong bg-panel p-2 pl-4 shadow-float"
      >
        <span className="text-sm font-medium tabular-nums" aria-live="polite">
          {t('nodes.selected', { count })}
        </span>
        <Button variant="quiet" label={t('nodes.clearSelection')} icon={<X aria-hidden />} onClick={onClear} />
        <Button variant="primary" icon={<Check aria-hidden />} blockedReason={blockedReason} onClick={onAcknowledge}>
          {t('alerts.acknowledge')}
        </Button>
      </div>
    </div>
  )
}

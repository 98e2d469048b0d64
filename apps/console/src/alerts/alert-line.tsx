import clsx from 'clsx'
import { BellOff, Check } from 'lucide-react'
import { t } from '@/messages/index.ts'
import { NodeHealth } from '@/nodes/badges.tsx'
import { Button } from '@/ui/button.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { AlertSeverity, AlertState } from './badges.tsx'
import type { AlertRow } from './documents.ts'

export const alertColumns =
  'grid grid-cols-[16px_92px_minmax(180px,1fr)_120px_80px_100px_auto] items-center gap-x-4 px-4 [&>*]:min-w-0'
export const alertHeight = 48
export const alertCardHeight = 104

type Props = {
  alert: AlertRow
  isNarrow: boolean
  isSelected: boolean
  onSelect: (isRange: boolean) => void
  onOpen: () => void
  onAcknowledge: () => void
  onSilence: () => void
}

/** One alert of the list: a row, or a card on a phone. */
export function AlertLine({ alert, isNarrow, isSelected, onSelect, onOpen, onAcknowledge, onSilence }: Props) {
  const checkbox = (
    <input
      type="checkbox"
      checked={isSelected}
      aria-label={t('nodes.select', { name: alert.message })}
      onChange={() => {}}
      onClick={(event) => onSelect(event.shiftKey)}
      className="size-4 accent-accent"
    />
  )
  const text = (
    <span className="flex items-center gap-2">
      <button
        type="button"
        onClick={onOpen}
        className="min-w-0 truncate text-left text-sm font-medium hover:underline"
        title={alert.message}
      >
        {alert.message}
      </button>
      {alert.node && (
        <span className="shrink-0 md:max-xl:hidden">
          <NodeHealth health={alert.node.health} />
        </span>
      )}
    </span>
  )
  const times = alert.count > 1 ? t('alerts.times', { count: alert.count }) : ''
  const actions = (
    <span className="flex justify-end gap-1">
      <Button
        variant="quiet"
        label={t('alerts.acknowledgeName', { text: alert.message })}
        icon={<Check aria-hidden />}
        blockedReason={alert.acknowledgeBlockedReason}
        onClick={onAcknowledge}
      />
      <Button
        variant="quiet"
        label={t('alerts.silenceName', { text: alert.message })}
        icon={<BellOff aria-hidden />}
        onClick={onSilence}
      />
    </span>
  )
  if (isNarrow)
    return (
      <div
        className={clsx('flex h-full flex-col justify-center gap-1 border-b border-line px-3', isSelected && 'bg-accent-soft')}
      >
        <div className="flex items-center gap-2">
          {checkbox}
          <AlertSeverity alert={alert} />
          <span className="ml-auto">
            <AlertState alert={alert} />
          </span>
        </div>
        {text}
        <div className="flex items-center justify-between gap-2 text-xs text-muted">
          <span>
            <RelativeTime at={alert.lastSeenAt} /> {times}
          </span>
          {actions}
        </div>
      </div>
    )
  return (
    <div className={clsx(alertColumns, 'h-full border-b border-line text-sm', isSelected && 'bg-accent-soft')}>
      {checkbox}
      <AlertSeverity alert={alert} />
      {text}
      <span>
        <AlertState alert={alert} />
      </span>
      <span className="text-xs text-muted tabular-nums">{times}</span>
      <span className="text-xs text-muted">
        <RelativeTime at={alert.lastSeenAt} />
      </span>
      {actions}
    </div>
  )
}

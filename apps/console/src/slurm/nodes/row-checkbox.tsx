import { t } from '@/messages/index.ts'

/** Selects a row; with Shift, the range from the last selected one. It lies above the link that covers the row. */
export function RowCheckbox({
  name,
  isSelected,
  onSelect,
}: {
  name: string
  isSelected: boolean
  onSelect: (isRange: boolean) => void
}) {
  return (
    <input
      type="checkbox"
      checked={isSelected}
      aria-label={t('nodes.select', { name })}
      onChange={() => {}}
      onClick={(event) => onSelect(event.shiftKey)}
      className="relative z-1 size-4 shrink-0 accent-accent"
    />
  )
}

import { t } from '@/messages/index.ts'

const height = 36
const width = 240

/** A sparkline with a text alternative; null values interrupt the line. */
export function Sparkline({
  label,
  values,
  unit,
  max,
}: {
  label: string
  values: (number | null)[]
  unit: (value: number) => string
  /** The top of the scale; the highest value when omitted. */
  max?: number
}) {
  const known = values.filter((value) => value !== null)
  const top = Math.max(max ?? 0, ...known, 1e-9)
  const x = (index: number) => (values.length < 2 ? width : (index / (values.length - 1)) * width)
  const y = (value: number) => height - 1.5 - (value / top) * (height - 3)
  let path = ''
  values.forEach((value, index) => {
    if (value === null) return
    path += `${values[index - 1] === null || index === 0 ? 'M' : 'L'}${x(index).toFixed(1)} ${y(value).toFixed(1)} `
  })
  const last = known.at(-1)
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <div className="flex items-baseline justify-between gap-2 text-xs">
        <span className="text-muted">{label}</span>
        <span className="font-medium tabular-nums">{last === undefined ? t('common.none') : unit(last)}</span>
      </div>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        className="h-9 w-full rounded bg-sunken"
        role="img"
        aria-label={
          last === undefined
            ? t('agent.noValues', { label })
            : t('agent.sparkline', { label, last: unit(last), low: unit(Math.min(...known)), high: unit(Math.max(...known)) })
        }
      >
        <path
          d={path}
          fill="none"
          className="stroke-accent"
          strokeWidth={1.5}
          strokeLinejoin="round"
          strokeLinecap="round"
          vectorEffect="non-scaling-stroke"
        />
      </svg>
    </div>
  )
}

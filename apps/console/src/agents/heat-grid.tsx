'use client'
import { useEffect, useId, useRef, useState } from 'react'
import { t } from '@/messages/index.ts'
import { NodeHealth } from '@/nodes/badges.tsx'
import type { AgentState, FleetCluster } from './documents.ts'
import { moveCell } from './fleet.ts'
import { useCellHealth } from './use-cell-health.ts'
import { type Palette, usePalette } from './use-palette.ts'

export type HeatBy = 'state' | 'cpu' | 'memory'
const colors: Record<AgentState, keyof Palette> = {
  ACTIVE: 'ok-dot',
  STALE: 'warn-dot',
  OFFLINE: 'bad-dot',
  DRAINING: 'accent',
  DRAINED: 'accent',
  PENDING: 'faint',
  DEREGISTERED: 'line-strong',
}

type Grid = { cluster: FleetCluster; by: HeatBy; pitch: number; columns: number; palette: Palette }

function paint(context: CanvasRenderingContext2D, { cluster, by, pitch, columns, palette }: Grid) {
  const side = pitch - (pitch > 6 ? 2 : 1)
  cluster.nodes.forEach(({ state, ...node }, index) => {
    const x = (index % columns) * pitch
    const y = Math.floor(index / columns) * pitch
    const value = by === 'state' ? null : node[`${by}Percent`]
    const isHeat = by !== 'state' && typeof value === 'number'
    context.globalAlpha = isHeat ? 0.1 + (0.9 * Math.min(100, value)) / 100 : 1
    context.fillStyle = by === 'state' ? palette[colors[state]] : isHeat ? palette.accent : palette.line
    context.fillRect(x, y, side, side)
    // Shapes for users who can't distinguish the colors: a hole for offline, half a cell for stale and draining.
    if (by !== 'state' || side < 4) return
    context.fillStyle = palette.panel
    const quarter = Math.max(1, Math.round(side / 4))
    if (state === 'OFFLINE') context.fillRect(x + quarter, y + quarter, side - 2 * quarter, side - 2 * quarter)
    if (state === 'STALE' || state === 'DRAINING') context.fillRect(x + quarter, y + side / 2, side - 2 * quarter, side / 2)
  })
  context.globalAlpha = 1
}

/** Text of a cell for its tooltip and for screen readers. */
export function cellText(cluster: FleetCluster, index: number): string {
  const node = cluster.nodes[index]
  if (!node) return ''
  const percent = (value: number | null | undefined) =>
    typeof value === 'number' ? t('unit.percent', { value: Math.round(value) }) : t('common.none')
  return t('fleet.cell', {
    name: node.name,
    state: t(`agentState.${node.state}`),
    cpu: percent(node.cpuPercent),
    memory: percent(node.memoryPercent),
  })
}

/**
 * The nodes of a cluster as cells on a canvas, for ten thousand nodes. Pointing at a cell shows its node, a click opens it; on the
 * keyboard, arrows move and Enter opens.
 */
export function HeatGrid({
  cluster,
  label,
  by,
  pitch,
  width,
  onOpen,
}: {
  cluster: FleetCluster
  label: string
  by: HeatBy
  pitch: number
  width: number
  onOpen: (name: string) => void
}) {
  const id = useId()
  const canvas = useRef<HTMLCanvasElement>(null)
  const palette = usePalette()
  const [active, setActive] = useState(0)
  const [hovered, setHovered] = useState<number | null>(null)
  const [isFocused, setFocused] = useState(false)
  const count = cluster.nodes.length
  const columns = Math.max(1, Math.floor(width / pitch))
  const height = Math.ceil(count / columns) * pitch
  useEffect(() => {
    const element = canvas.current
    const context = element?.getContext('2d')
    if (!element || !context || !palette) return
    const ratio = devicePixelRatio || 1
    element.width = Math.round(columns * pitch * ratio)
    element.height = Math.round(height * ratio)
    context.scale(ratio, ratio)
    paint(context, { cluster, by, pitch, columns, palette })
  }, [cluster, by, pitch, columns, height, palette])

  const highlighted = hovered ?? (isFocused ? active : null)
  const health = useCellHealth(highlighted === null ? undefined : cluster.nodes[highlighted]?.name)
  const place = (index: number) => ({ left: (index % columns) * pitch, top: Math.floor(index / columns) * pitch })
  function cellAt(event: React.PointerEvent | React.MouseEvent): number | null {
    const box = event.currentTarget.getBoundingClientRect()
    const column = Math.floor((event.clientX - box.left) / pitch)
    const index = Math.floor((event.clientY - box.top) / pitch) * columns + column
    return column >= 0 && column < columns && index >= 0 && index < count ? index : null
  }
  return (
    <div
      role="listbox"
      tabIndex={0}
      aria-label={label}
      aria-activedescendant={`${id}-cell`}
      className="relative cursor-pointer"
      style={{ width: columns * pitch, height }}
      onPointerMove={(event) => setHovered(cellAt(event))}
      onPointerLeave={() => setHovered(null)}
      onFocus={(event) => setFocused(event.currentTarget.matches(':focus-visible'))}
      onBlur={() => setFocused(false)}
      onClick={(event) => {
        const name = cluster.nodes[cellAt(event) ?? -1]?.name
        if (name) onOpen(name)
      }}
      onKeyDown={(event) => {
        const next = moveCell(event.key, active, columns, count)
        const name = cluster.nodes[active]?.name
        if (next !== null) {
          event.preventDefault()
          setActive(next)
          setFocused(true)
        } else if (event.key === 'Enter' && name) onOpen(name)
      }}
    >
      <canvas ref={canvas} className="block" style={{ width: columns * pitch, height }} aria-hidden />
      <div role="option" id={`${id}-cell`} aria-selected tabIndex={-1} className="sr-only">
        {highlighted === active && health
          ? t('fleet.cellHealth', {
              cell: cellText(cluster, active),
              health: t(`nodeHealth.${health.status}`),
              reason: health.reason ?? '',
            }).trim()
          : cellText(cluster, active)}
      </div>
      {highlighted !== null && highlighted < count && (
        <>
          <div
            aria-hidden
            className="pointer-events-none absolute outline-2 outline-text"
            style={{ ...place(highlighted), width: pitch - 1, height: pitch - 1 }}
          />
          <div
            aria-hidden
            className="pointer-events-none absolute z-10 rounded-md border border-line-strong bg-panel w-max max-w-[min(24rem,80vw)] px-2 py-1 text-xs shadow-float"
            style={{
              top: place(highlighted).top + pitch + 4,
              ...(place(highlighted).left > (columns * pitch) / 2
                ? { right: columns * pitch - place(highlighted).left - pitch }
                : { left: place(highlighted).left }),
            }}
          >
            <p>{cellText(cluster, highlighted)}</p>
            {health && <NodeHealth health={health} showReason />}
          </div>
        </>
      )}
    </div>
  )
}

'use client'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useEffect, useRef, useState } from 'react'
import { useClient } from 'urql'
import { formatNumber, t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import type { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { Panel } from '@/ui/page.tsx'
import { agentTones } from './badges.tsx'
import { ClusterTable, nodesHref, placeText } from './cluster-table.tsx'
import { type FleetCluster, FleetNodeQuery } from './documents.ts'
import { agentStates, cellPitch, countStates } from './fleet.ts'
import { type HeatBy, HeatGrid } from './heat-grid.tsx'

const gridHeight = 460
const colorings = ['state', 'cpu', 'memory'] as const satisfies readonly HeatBy[]
const places = ['region', 'datacenter', 'cluster'] as const

function useWidth() {
  const box = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (!box.current) return
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)))
    observer.observe(box.current)
    return () => observer.disconnect()
  }, [])
  return { box, width }
}

function Grids({ clusters, by }: { clusters: FleetCluster[]; by: HeatBy }) {
  const { box, width } = useWidth()
  const client = useClient()
  const router = useRouter()
  const pitch = cellPitch(
    clusters.reduce((sum, { nodes }) => sum + nodes.length, 0),
    width,
    gridHeight,
  )
  async function open(name: string) {
    const { data } = await client.query(FleetNodeQuery, { name }).toPromise()
    if (data?.computeNode) router.push(`/nodes/${encodeURIComponent(data.computeNode.id)}?tab=agent`)
  }
  return (
    <div ref={box} className="flex flex-col gap-4">
      {width > 0 &&
        clusters.map((cluster) => (
          <div key={`${cluster.cluster} ${cluster.region} ${cluster.datacenter}`} className="flex flex-col gap-1.5">
            <h3 className="flex flex-wrap items-baseline gap-x-2 text-xs text-muted">
              <span className="font-medium text-text">{cluster.cluster}</span>
              {placeText(cluster)}
              <span className="tabular-nums">{t('fleet.nodes', { count: cluster.nodes.length })}</span>
            </h3>
            <HeatGrid
              cluster={cluster}
              label={t('fleet.gridLabel', { cluster: cluster.cluster, count: cluster.nodes.length })}
              by={by}
              pitch={pitch}
              width={width}
              onOpen={(name) => void open(name)}
            />
          </div>
        ))}
    </div>
  )
}

/** Selects what the cell colors show. */
function ColorChoice({ by, onChange }: { by: HeatBy; onChange: (by: HeatBy) => void }) {
  return (
    <fieldset className="flex gap-0.5 rounded-md bg-sunken p-0.5" aria-label={t('fleet.colorBy')}>
      {colorings.map((coloring) => (
        <button
          key={coloring}
          type="button"
          aria-pressed={by === coloring}
          onClick={() => onChange(coloring)}
          className={`h-6 rounded px-2.5 text-xs ${by === coloring ? 'bg-panel font-medium text-text' : 'text-muted hover:text-text'}`}
        >
          {t(`fleet.by.${coloring}`)}
        </button>
      ))}
    </fieldset>
  )
}

/** The fleet, filtered by the URL: counts by state, a heat map, and a table of clusters. */
export function FleetView({ all, query }: { all: FleetCluster[]; query: ReturnType<typeof useQueryState> }) {
  const by = colorings.find((coloring) => coloring === query.get('by')) ?? 'state'
  const chosen = { cluster: query.get('cluster'), region: query.get('region'), datacenter: query.get('datacenter') }
  const clusters = all.filter((cluster) => places.every((place) => !chosen[place] || cluster[place] === chosen[place]))
  const counts = countStates(clusters)
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap gap-2">
        {places.map((place) => {
          const values = [...new Set(all.flatMap((cluster) => cluster[place] ?? []))].sort()
          if (values.length < 2 && !chosen[place]) return null
          return (
            <FilterSelect
              key={place}
              label={t(`filter.${place}`)}
              value={chosen[place]}
              onChange={(value) => query.set({ [place]: value })}
            >
              <option value="">{t(`fleet.any.${place}`)}</option>
              {values.map((value) => (
                <option key={value}>{value}</option>
              ))}
            </FilterSelect>
          )
        })}
      </div>
      <ul aria-label={t('fleet.states')} className="grid grid-cols-2 gap-2 sm:grid-cols-4 xl:grid-cols-7">
        {agentStates.map((state) => (
          <li key={state}>
            <Link
              href={nodesHref(state, chosen)}
              className="flex flex-col gap-1 rounded-lg border border-line bg-panel px-3 py-2 hover:bg-hover"
            >
              <State tone={agentTones[state]}>{t(`agentState.${state}`)}</State>
              <span className="text-xl font-semibold tabular-nums">{formatNumber(counts[state])}</span>
            </Link>
          </li>
        ))}
      </ul>
      <Panel
        title={t('fleet.grid')}
        actions={<ColorChoice by={by} onChange={(next) => query.set({ by: next === 'state' ? null : next })} />}
      >
        <Grids clusters={clusters} by={by} />
      </Panel>
      <Panel title={t('fleet.table')} flush>
        <ClusterTable clusters={clusters} />
      </Panel>
    </div>
  )
}

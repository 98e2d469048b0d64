'use client'
import { useEffect, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { useLive, useReconnect } from '@/graphql/use-live.ts'
import { AgentFleetQuery, type FleetCluster, Heartbeats } from './documents.ts'
import { applyHeartbeats } from './fleet.ts'

/** The fleet: read once, updated by heartbeats, and read again when nodes join. */
export function useFleet() {
  const [{ data, error }, read] = useQuery({ query: AgentFleetQuery, requestPolicy: 'network-only' })
  const [live, setLive] = useState<{ source: unknown; clusters: FleetCluster[] } | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const reload = () => read({ requestPolicy: 'network-only' })
  const fleet = data?.agentFleet
  const clusters = live && live.source === fleet ? live.clusters : fleet?.clusters
  useLive(Heartbeats, {}, ({ heartbeats }) => {
    if (!clusters) return
    const { fleet: updated, isComplete } = applyHeartbeats(clusters, heartbeats)
    setLive({ source: fleet, clusters: updated })
    if (isComplete || timer.current) return
    timer.current = setTimeout(() => {
      timer.current = undefined
      reload()
    }, 2000)
  })
  useEffect(() => () => clearTimeout(timer.current), [])
  useReconnect(reload)
  return { clusters, suppressedCount: fleet?.suppressedCount ?? 0, error, reload }
}

'use client'
import { useEffect, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { useLive, useReconnect } from '@/graphql/use-live.ts'
import { AgentFleetQuery, type FleetCluster, Heartbeats } from './documents.ts'
import { withBeats } from './fleet.ts'

/** The whole fleet: read once, kept true by what is live, and read again when something is new in it. */
export function useFleet() {
  const [{ data, error }, read] = useQuery({ query: AgentFleetQuery, requestPolicy: 'network-only' })
  const [live, setLive] = useState<{ of: unknown; clusters: FleetCluster[] } | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const reload = () => read({ requestPolicy: 'network-only' })
  const whole = data?.agentFleet
  const clusters = live && live.of === whole ? live.clusters : whole?.clusters
  useLive(Heartbeats, {}, ({ heartbeats }) => {
    if (!clusters) return
    const { fleet, isComplete } = withBeats(clusters, heartbeats)
    setLive({ of: whole, clusters: fleet })
    if (isComplete || timer.current) return
    timer.current = setTimeout(() => {
      timer.current = undefined
      reload()
    }, 2000)
  })
  useEffect(() => () => clearTimeout(timer.current), [])
  useReconnect(reload)
  return { clusters, heldCount: whole?.heldCount ?? 0, error, reload }
}

import Link from 'next/link'
import { formatNumber, t } from '@/messages/index.ts'
import type { AgentState, FleetCluster } from './documents.ts'
import { agentStates, countStates } from './fleet.ts'

type Place = Partial<Pick<FleetCluster, 'cluster' | 'region' | 'datacenter'>>

/** Link to the node list, filtered by agent state and location. */
export function nodesHref(state: AgentState, { cluster, region, datacenter }: Place): string {
  const query = new URLSearchParams({
    agent: state,
    ...(cluster && { cluster }),
    ...(region && { region }),
    ...(datacenter && { datacenter }),
  })
  return `/nodes?${query}`
}

/** Nodes of each cluster by state; each number links to its nodes. */
export function ClusterTable({ clusters }: { clusters: FleetCluster[] }) {
  const totals = countStates(clusters)
  const shown = agentStates.filter((state) => totals[state] > 0)
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-sm">
        <caption className="sr-only">{t('fleet.tableCaption')}</caption>
        <thead>
          <tr className="border-b border-line text-left text-xs text-muted">
            <th scope="col" className="px-4 py-2 font-medium">
              {t('fleet.cluster')}
            </th>
            <th scope="col" className="px-4 py-2 font-medium">
              {t('fleet.place')}
            </th>
            {shown.map((state) => (
              <th key={state} scope="col" className="px-4 py-2 text-right font-medium">
                {t(`agentState.${state}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {clusters.map((cluster) => {
            const counts = countStates([cluster])
            return (
              <tr
                key={`${cluster.cluster} ${cluster.region} ${cluster.datacenter}`}
                className="border-b border-line last:border-0"
              >
                <th scope="row" className="px-4 py-2 text-left font-medium whitespace-nowrap">
                  {cluster.cluster}
                </th>
                <td className="px-4 py-2 whitespace-nowrap text-muted">{placeText(cluster) ?? t('common.none')}</td>
                {shown.map((state) => (
                  <td key={state} className="px-4 py-2 text-right tabular-nums">
                    {counts[state] > 0 ? (
                      <Link className="underline-offset-2 hover:underline" href={nodesHref(state, cluster)}>
                        {formatNumber(counts[state])}
                      </Link>
                    ) : (
                      <span className="text-faint">{t('common.none')}</span>
                    )}
                  </td>
                ))}
              </tr>
            )
          })}
        </tbody>
      </table>
    </div>
  )
}

/** Region and data center as reported by the agents; null when unknown. */
export const placeText = ({ region, datacenter }: Pick<FleetCluster, 'region' | 'datacenter'>): string | null =>
  [region, datacenter].filter(Boolean).join(' · ') || null

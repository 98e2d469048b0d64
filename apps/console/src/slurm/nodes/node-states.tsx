import Link from 'next/link'
import { t } from '@/messages/index.ts'
import { nodeTone } from '@/slurm/badges.tsx'
import { clusterHref } from '@/slurm/cluster-card.tsx'
import { State } from '@/ui/badge.tsx'

type Props = {
  nodes: readonly { id: string; name: string; state: string; reason: string | null; cluster: { id: string; name: string } }[]
}

/** The nodes of Slurm clusters that are one machine, with state and reason. */
export function SlurmNodeStates({ nodes }: Props) {
  if (nodes.length === 0) return <span className="text-faint">{t('common.none')}</span>
  return (
    <ul className="flex flex-col gap-1" data-testid="slurm-node-states">
      {nodes.map(({ id, name, state, reason, cluster }) => (
        <li key={id} className="flex flex-wrap items-center gap-x-2">
          <State tone={nodeTone(state)}>
            <span className="font-mono text-xs">{state}</span>
          </State>
          <span>
            {t.rich('node.slurmNode', {
              name,
              cluster: () => (
                <Link className="hover:underline" href={clusterHref(cluster.id)}>
                  {cluster.name}
                </Link>
              ),
            })}
          </span>
          {reason && <span className="w-full text-xs break-words text-muted">{reason}</span>}
        </li>
      ))}
    </ul>
  )
}

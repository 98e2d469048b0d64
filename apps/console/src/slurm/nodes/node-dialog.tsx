'use client'
import Link from 'next/link'
import { useState } from 'react'
import { useQuery } from 'urql'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { formatBytes } from '@/messages/format.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { AcceleratorBadges, NodeHealth } from '@/nodes/badges.tsx'
import { MatchNode, type NodeDetails, NodeDetailsQuery } from '@/slurm/cluster-documents.ts'
import { useReloadOn } from '@/slurm/use-reload-on.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Failure } from '@/ui/failure.tsx'
import { SelectField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { PropertyList } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'
import { useFindNode } from './find-node.ts'

const MIB = 1024 * 1024

type Props = {
  id: string
  /** Of the cluster: the node is read again after each refresh. */
  refreshedAt: string | null
  onClose: () => void
  onChanged: () => void
}

/** A node of a cluster: what Slurm says, the same machine in the inventory, and their differences. */
export function NodeDialog({ id, refreshedAt, onClose, onChanged }: Props) {
  const [{ data, error }, refetch] = useQuery({
    query: NodeDetailsQuery,
    variables: { id },
    requestPolicy: 'cache-and-network',
  })
  const reload = () => refetch({ requestPolicy: 'network-only' })
  useReloadOn(refreshedAt, reload)
  const node = data?.node?.__typename === 'SlurmNode' ? data.node : null
  return (
    <Dialog wide title={node?.name ?? t('slurmNode.node')} onClose={onClose}>
      {node ? (
        <Details node={node} onChanged={onChanged} />
      ) : error ? (
        <Failure title={t('slurmNode.loadFailed')} message={toProblem(error).message} onRetry={reload} />
      ) : data ? (
        <p className="text-sm text-muted">{t('slurmNode.gone')}</p>
      ) : (
        <Skeleton className="h-60 w-full" />
      )}
    </Dialog>
  )
}

function Details({ node, onChanged }: { node: NodeDetails; onChanged: () => void }) {
  const gres = node.gres.map(({ name, type, count, used, usedIndexes }) =>
    t('slurmNode.gresLine', {
      name: type ? `${name}:${type}` : name,
      used: formatNumber(used ?? 0),
      total: formatNumber(count),
      indexes: usedIndexes ? ` (${usedIndexes})` : '',
    }),
  )
  return (
    <div className="flex flex-col gap-5">
      <PropertyList
        rows={[
          [
            t('slurmNode.state'),
            <span key="s" className="font-mono text-xs">
              {node.states.join('+')}
            </span>,
          ],
          ...(node.reason
            ? [
                [
                  t('slurmNode.reason'),
                  <span key="r">
                    {node.reason}{' '}
                    <span className="text-xs text-muted">
                      {node.reasonUser && t('slurmNode.reasonBy', { user: node.reasonUser })}{' '}
                      {node.reasonAt && <RelativeTime at={node.reasonAt} />}
                    </span>
                  </span>,
                ] as [string, React.ReactNode],
              ]
            : []),
          [
            t('slurmNode.address'),
            <span key="a" className="font-mono text-xs">
              {node.address}
            </span>,
          ],
          [t('slurm.partitions'), node.partitions.join(', ') || t('common.none')],
          [t('slurmNode.use'), t('slurm.allocated', { used: formatNumber(node.allocatedCpus), total: formatNumber(node.cpus) })],
          [
            t('slurmNode.memory'),
            t('slurm.allocated', {
              used: formatBytes(node.allocatedMemoryMiB * MIB),
              total: formatBytes(node.memoryMiB * MIB),
            }),
          ],
          [t('slurmNode.gres'), gres.length > 0 ? gres.join('\n') : t('common.none')],
          [t('slurmNode.cpuLoad'), node.cpuLoad === null ? t('common.none') : formatNumber(node.cpuLoad)],
          [t('slurmNode.features'), node.activeFeatures.join(', ') || t('common.none')],
          [t('slurmNode.weight'), formatNumber(node.weight)],
          [t('slurmNode.slurmd'), node.slurmdVersion ?? t('common.none')],
          [t('slurmNode.booted'), <RelativeTime key="b" at={node.bootAt} />],
        ]}
      />
      {node.differences.length > 0 && (
        <section className="flex flex-col gap-2">
          <h3 className="text-sm font-semibold">{t('slurmNode.differences')}</h3>
          <table className="w-full text-left text-sm">
            <thead className="text-xs text-muted">
              <tr>
                <th className="py-1 pr-3 font-medium" scope="col" />
                <th className="py-1 pr-3 font-medium" scope="col">
                  {t('slurmNode.configured')}
                </th>
                <th className="py-1 font-medium" scope="col">
                  {t('slurmNode.discovered')}
                </th>
              </tr>
            </thead>
            <tbody>
              {node.differences.map(({ kind, configured, discovered }) => (
                <tr key={`${kind} ${configured}`} className="border-t border-line">
                  <th className="py-1 pr-3 font-normal text-muted" scope="row">
                    {t(`slurmNode.difference.${kind}`)}
                  </th>
                  <td className="py-1 pr-3">{configured}</td>
                  <td className="py-1 text-warn">{discovered}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      <Match node={node} onChanged={onChanged} />
    </div>
  )
}

/** The same machine in the inventory, and a choice when several fit. */
function Match({ node, onChanged }: { node: NodeDetails; onChanged: () => void }) {
  const match = useMutation(MatchNode)
  const findNode = useFindNode()
  const [chosen, setChosen] = useState('')
  const [name, setName] = useState('')
  const [nameProblem, setNameProblem] = useState<string | null>(null)
  const blocked = node.cluster.updateBlockedReason
  async function apply(choice: { nodeId?: string | null; automatic?: boolean }) {
    const outcome = await match.run({ input: { id: node.id, ...choice } })
    if (!outcome.ok) return
    toast('ok', t('slurmNode.matched', { name: node.name }))
    onChanged()
  }
  async function matchByName() {
    const found = await findNode(name.trim())
    setNameProblem('problem' in found ? found.problem : null)
    if ('id' in found) await apply({ nodeId: found.id })
  }
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-sm font-semibold">{t('slurmNode.inventory')}</h3>
      {node.node ? (
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
          <Link className="underline underline-offset-2" href={`/nodes/${encodeURIComponent(node.node.id)}`}>
            {node.node.name}
          </Link>
          {node.matchedBy && <span className="text-xs text-muted">{t(`slurmNode.matchedBy.${node.matchedBy}`)}</span>}
          <NodeHealth health={node.node.health} showReason />
          <AcceleratorBadges summary={node.node.acceleratorSummary} />
        </div>
      ) : (
        <p className="text-sm text-muted">{node.matchConflict ?? t('slurmNode.matchNone')}</p>
      )}
      {match.problem && <Notice tone="bad">{match.problem.message}</Notice>}
      {node.match === 'CONFLICT' && node.matchCandidates.length > 0 && (
        <div className="flex flex-wrap items-end gap-2">
          <SelectField
            className="min-w-48"
            label={t('slurmNode.chooseNode')}
            value={chosen}
            onChange={(event) => setChosen(event.target.value)}
          >
            <option value="">{t('slurmNode.matchNone')}</option>
            {node.matchCandidates.map(({ id, name, host }) => (
              <option key={id} value={id}>
                {name} ({host})
              </option>
            ))}
          </SelectField>
          <Button busy={match.busy} blockedReason={blocked} onClick={() => void apply({ nodeId: chosen || null })}>
            {t('slurm.save')}
          </Button>
        </div>
      )}
      {node.matchCandidates.length === 0 && (
        <div className="flex flex-wrap items-start gap-2">
          <TextField
            className="min-w-48"
            mono
            label={t('slurmNode.otherNode')}
            value={name}
            onChange={(event) => setName(event.target.value)}
            error={nameProblem}
          />
          <Button
            className="mt-6"
            busy={match.busy}
            blockedReason={blocked ?? (name.trim() ? null : t('diff.needName'))}
            onClick={() => void matchByName()}
          >
            {t('slurmNode.matchAction')}
          </Button>
        </div>
      )}
      {node.matchedBy === 'MANUAL' && (
        <div>
          <Button busy={match.busy} blockedReason={blocked} onClick={() => void apply({ automatic: true })}>
            {t('slurmNode.matchAutomatic')}
          </Button>
        </div>
      )}
    </section>
  )
}

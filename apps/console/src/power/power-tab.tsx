'use client'
import { Pencil, Power, RefreshCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useQuery } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useLive } from '@/graphql/use-live.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatBytes, formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel, PropertyList } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'
import { BmcDialog } from './bmc-dialog.tsx'
import { type Bmc, type NodePower, NodePowerQuery, NodePowerUpdated, ReadBmcs, RemoveNodeBmc, SetNodeBmc } from './documents.ts'
import { PowerResultBadge, PowerStateBadge } from './power-badges.tsx'
import { PowerMenu } from './power-menu.tsx'

const mono = (text: string | null | undefined) =>
  text ? <code className="font-mono text-xs break-all">{text}</code> : <span className="text-faint">{t('common.none')}</span>

/** BMC, power state, hardware and history of a node. */
export function PowerTab({ id }: { id: string }) {
  const [{ data, error }, refetch] = useQuery({ query: NodePowerQuery, variables: { id }, requestPolicy: 'cache-and-network' })
  useLive(NodePowerUpdated, { id })
  const reload = () => refetch({ requestPolicy: 'network-only' })
  const node = data?.node?.__typename === 'ComputeNode' ? data.node : null
  if (!node && error) return <Failure title={t('bmc.loadFailed')} message={error.message} onRetry={reload} />
  if (!node) return <Skeleton className="h-72 w-full" />
  return <Loaded node={node} reload={reload} />
}

function Loaded({ node, reload }: { node: NodePower; reload: () => void }) {
  const { bmc } = node
  const [open, setOpen] = useState<'edit' | 'remove' | null>(null)
  const read = useMutation(ReadBmcs)
  const remove = useMutation(RemoveNodeBmc)
  const readBlocked = useBlockedReason('power:read')
  const close = () => setOpen(null)
  async function readNow() {
    const outcome = await read.run({ nodeIds: [node.id] })
    if (!outcome.ok) toast('bad', outcome.problem.message)
  }
  const dialog = open === 'edit' && <BmcDialog node={node} onClose={close} />
  if (!bmc)
    return (
      <>
        <Empty
          icon={<Power aria-hidden />}
          title={t('bmc.emptyTitle')}
          action={
            <Button variant="primary" blockedReason={node.updateBlockedReason} onClick={() => setOpen('edit')}>
              {t('bmc.set')}
            </Button>
          }
        >
          <p>{t('bmc.emptyText')}</p>
        </Empty>
        {dialog}
      </>
    )
  const { reading } = bmc
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <PowerStateBadge state={bmc.powerState} />
        <span className="text-sm text-muted">
          {!reading?.readAt || !reading.reportedState
            ? t('power.neverRead')
            : reading.error
              ? t.rich('power.lastReported', {
                  state: t(`powerState.${reading.reportedState}`),
                  time: () => <RelativeTime at={reading.readAt} />,
                })
              : t.rich('power.readAt', { time: () => <RelativeTime at={reading.readAt} /> })}
        </span>
        <span className="ml-auto flex flex-wrap gap-2">
          <Button
            icon={<RefreshCw aria-hidden />}
            blockedReason={readBlocked}
            busy={read.busy || Boolean(reading?.requestedAt)}
            onClick={() => void readNow()}
          >
            {t('power.read')}
          </Button>
          <PowerMenu nodeIds={[node.id]} onDone={reload} />
        </span>
      </div>
      {reading?.error && <Notice tone="bad">{reading.error}</Notice>}
      {reading?.offeredFingerprint && <OfferedCertificate node={node} fingerprint={reading.offeredFingerprint} />}
      {bmc.conflicts.length > 0 && (
        <Notice tone="warn">
          <p className="font-medium">{t('bmc.conflictTitle')}</p>
          <ul className="list-disc pl-5">
            {bmc.conflicts.map((conflict) => (
              <li key={conflict}>{conflict}</li>
            ))}
          </ul>
          <p className="mt-1">{t('bmc.conflictText')}</p>
        </Notice>
      )}
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
        <BmcPanel node={node} bmc={bmc} onEdit={() => setOpen('edit')} onRemove={() => setOpen('remove')} />
        <InventoryPanel bmc={bmc} />
        <SensorsPanel bmc={bmc} />
        <EventsPanel bmc={bmc} />
      </div>
      <HistoryPanel node={node} />
      {dialog}
      {open === 'remove' && (
        <Confirm
          title={t('bmc.removeTitle', { name: node.name })}
          action={t('bmc.remove')}
          onClose={close}
          onConfirm={() => remove.run({ nodeId: node.id })}
        >
          <p>{t('bmc.removeText')}</p>
        </Confirm>
      )}
    </div>
  )
}

/** The certificate that was rejected, for a person who can compare it. */
function OfferedCertificate({ node, fingerprint }: { node: NodePower; fingerprint: string }) {
  const set = useMutation(SetNodeBmc)
  async function pin() {
    const outcome = await set.run({ input: { nodeId: node.id, fingerprint } })
    if (outcome.ok) toast('ok', t('bmc.pinned'))
    else toast('bad', outcome.problem.message)
  }
  return (
    <Notice tone="warn">
      <div className="flex flex-col items-start gap-2">
        <p>{t('bmc.offered')}</p>
        <code className="font-mono text-xs break-all">{fingerprint}</code>
        <Button blockedReason={node.updateBlockedReason} busy={set.busy} onClick={() => void pin()}>
          {t('bmc.pin')}
        </Button>
      </div>
    </Notice>
  )
}

function BmcPanel({ node, bmc, onEdit, onRemove }: { node: NodePower; bmc: Bmc; onEdit: () => void; onRemove: () => void }) {
  return (
    <Panel
      title={t('bmc.title')}
      actions={
        <span className="flex gap-1">
          <Button
            variant="quiet"
            label={t('bmc.edit')}
            icon={<Pencil aria-hidden />}
            blockedReason={node.updateBlockedReason}
            onClick={onEdit}
          />
          <Button
            variant="quiet"
            label={t('bmc.remove')}
            icon={<Trash2 aria-hidden />}
            blockedReason={node.updateBlockedReason}
            onClick={onRemove}
          />
        </span>
      }
    >
      <PropertyList
        rows={[
          [t('bmc.address'), mono(`${bmc.address}:${bmc.port}`)],
          [t('bmc.protocol'), t(`bmcProtocol.${bmc.protocol}`)],
          [t('bmc.credential'), bmc.credential.name],
          ...(bmc.protocol === 'REDFISH'
            ? [
                [
                  t('bmc.trust'),
                  bmc.fingerprint ? mono(bmc.fingerprint) : t(bmc.caCertificate ? 'bmcTrust.CA' : 'bmcTrust.INSTALLATION'),
                ] as [string, React.ReactNode],
              ]
            : []),
          [t('bmc.mac'), mono(bmc.mac)],
          ...(bmc.systemPath ? [[t('bmc.systemPath'), mono(bmc.systemPath)] as [string, React.ReactNode]] : []),
          [t('node.xname'), mono(node.bmcXname)],
        ]}
      />
    </Panel>
  )
}

function InventoryPanel({ bmc }: { bmc: Bmc }) {
  const inventory = bmc.reading?.inventory
  return (
    <Panel title={t('bmc.inventory')}>
      {inventory ? (
        <PropertyList
          rows={[
            [t('bmc.model'), [inventory.manufacturer, inventory.model].filter(Boolean).join(' ') || t('common.none')],
            [t('bmc.serial'), mono(inventory.serial)],
            [t('bmc.uuid'), mono(inventory.uuid)],
            [t('bmc.bios'), mono(inventory.biosVersion)],
            [t('bmc.firmware'), mono([inventory.bmcModel, inventory.bmcFirmware].filter(Boolean).join(' '))],
            [t('node.cpu'), [inventory.cpuCount, inventory.cpuModel].filter(Boolean).join(' × ') || t('common.none')],
            [t('node.memory'), formatBytes(inventory.memoryBytes)],
            [t('bmc.macs'), mono(inventory.macs.join(', '))],
          ]}
        />
      ) : (
        <p className="text-sm text-muted">{t('bmc.notRead')}</p>
      )}
    </Panel>
  )
}

const healthTone = (health: string | null) =>
  health === 'OK' ? 'ok' : health === 'Warning' ? 'warn' : health === 'Critical' ? 'bad' : 'neutral'

function SensorsPanel({ bmc }: { bmc: Bmc }) {
  const sensors = bmc.reading?.sensors ?? []
  return (
    <Panel title={t('bmc.sensors')}>
      {sensors.length === 0 ? (
        <p className="text-sm text-muted">{t('bmc.noSensors')}</p>
      ) : (
        <ul className="flex max-h-80 flex-col gap-1 overflow-y-auto text-sm">
          {sensors.map((sensor) => (
            <li key={`${sensor.kind} ${sensor.name}`} className="flex items-baseline gap-3">
              <span className="min-w-0 flex-1 truncate">{sensor.name}</span>
              <span className="font-mono text-xs tabular-nums">
                {sensor.value === null ? '–' : `${sensor.value} ${sensor.unit === 'Cel' ? '°C' : sensor.unit}`}
              </span>
              {sensor.health && <Badge tone={healthTone(sensor.health)}>{sensor.health}</Badge>}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function EventsPanel({ bmc }: { bmc: Bmc }) {
  const events = bmc.reading?.events ?? []
  return (
    <Panel title={t('bmc.events')}>
      {events.length === 0 ? (
        <p className="text-sm text-muted">{t('bmc.noEvents')}</p>
      ) : (
        <ul className="flex max-h-80 flex-col gap-2 overflow-y-auto text-sm">
          {events.map((event) => (
            <li key={`${event.entryId} ${event.at}`} className="flex flex-col">
              <span className="flex items-baseline gap-2 text-xs text-muted">
                {event.at ? formatDateTime(event.at) : '–'}
                {event.severity && <Badge tone={healthTone(event.severity)}>{event.severity}</Badge>}
              </span>
              <span className="break-words">{event.message}</span>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function HistoryPanel({ node }: { node: NodePower }) {
  return (
    <Panel title={t('power.history')}>
      {node.powerRunItems.length === 0 ? (
        <p className="text-sm text-muted">{t('power.noHistory')}</p>
      ) : (
        <ul className="flex flex-col divide-y divide-line text-sm">
          {node.powerRunItems.map(({ run, result, message }) => (
            <li key={run.id} className="flex flex-wrap items-baseline gap-x-3 gap-y-1 py-2">
              <span className="font-medium">
                {t(`powerAction.${run.action}`)}
                {run.bootDevice && `: ${t(`bootDevice.${run.bootDevice}`)}`}
              </span>
              <span className="text-xs text-muted">
                {run.createdBy.name} · <RelativeTime at={run.createdAt} />
              </span>
              <span className="min-w-0 flex-1 truncate text-muted">{run.reason}</span>
              {result ? <PowerResultBadge result={result} /> : <span className="text-faint">…</span>}
              {message && <p className="w-full text-xs break-words text-muted">{message}</p>}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

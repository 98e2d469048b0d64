'use client'
import { Cpu } from 'lucide-react'
import { useState } from 'react'
import { formatBytes } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge, State } from '@/ui/badge.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Empty } from '@/ui/empty.tsx'
import { PropertyList } from '@/ui/page.tsx'
import { healthTones } from './badges.tsx'
import type { AcceleratorLine } from './node-documents.ts'

function unit(value: number | null, key: 'unit.celsius' | 'unit.watt' | 'unit.percent') {
  return value === null ? <span className="text-faint">{t('common.none')}</span> : t(key, { value: Math.round(value) })
}

function Memory({ device }: { device: AcceleratorLine }) {
  if (device.memoryTotalBytes === null) return <span className="text-faint">{t('common.none')}</span>
  const share = device.memoryUsedBytes === null ? null : device.memoryUsedBytes / device.memoryTotalBytes
  return (
    <span
      className="inline-flex items-center gap-2"
      title={
        share === null
          ? undefined
          : t('accelerators.used', { used: formatBytes(device.memoryUsedBytes), total: formatBytes(device.memoryTotalBytes) })
      }
    >
      {share !== null && (
        <span className="h-1.5 w-12 overflow-hidden rounded-full bg-line" aria-hidden>
          <span className="block h-full bg-accent" style={{ width: `${Math.min(100, share * 100)}%` }} />
        </span>
      )}
      <span className="whitespace-nowrap tabular-nums">{formatBytes(device.memoryTotalBytes)}</span>
    </span>
  )
}

/** Corrected and uncorrected memory errors since the driver was loaded; null when not reported. */
function eccText(errors: AcceleratorLine['eccErrors']): string | null {
  if (!errors || (errors.correctedVolatile === null && errors.uncorrectedVolatile === null)) return null
  return t('accelerators.eccCounts', {
    corrected: String(errors.correctedVolatile ?? '?'),
    uncorrected: String(errors.uncorrectedVolatile ?? '?'),
  })
}

/** Health of an accelerator with the reason that its vendor tool gives. */
function AcceleratorHealth({ device }: { device: AcceleratorLine }) {
  return (
    <span className="flex min-w-0 flex-col">
      <State tone={healthTones[device.health]}>{t(`health.${device.health}`)}</State>
      {device.healthReason && <span className="max-w-64 pl-3.5 text-xs break-words text-muted">{device.healthReason}</span>}
    </span>
  )
}

function AcceleratorDialog({ device, onClose }: { device: AcceleratorLine; onClose: () => void }) {
  const mono = (text: string | null) => (text ? <code className="font-mono text-xs break-all">{text}</code> : t('common.none'))
  return (
    <Dialog
      title={t('accelerators.device', {
        index: String(device.index),
        model: device.model ?? t(`deviceType.${device.deviceType}`),
      })}
      onClose={onClose}
    >
      <PropertyList
        rows={[
          [t('accelerators.health'), <AcceleratorHealth key="h" device={device} />],
          [t('accelerators.type'), t(`deviceType.${device.deviceType}`)],
          [t('accelerators.uuid'), mono(device.uuid)],
          [t('accelerators.serial'), mono(device.serial)],
          [t('accelerators.pci'), mono(device.pciAddress)],
          [t('accelerators.numa'), device.numaNode ?? t('common.none')],
          [t('accelerators.driver'), mono(device.driverVersion)],
          [t('accelerators.firmware'), mono(device.firmwareVersion)],
          [t('accelerators.toolkit'), mono(device.toolkitVersion)],
          [t('accelerators.capability'), mono(device.computeCapability)],
          [t('accelerators.interconnect'), device.interconnect ?? t('common.none')],
          [
            t('accelerators.ecc'),
            device.isEccEnabled === null
              ? t('common.none')
              : t(device.isEccEnabled ? 'accelerators.eccEnabled' : 'accelerators.eccDisabled'),
          ],
          [t('accelerators.eccErrors'), eccText(device.eccErrors) ?? t('common.none')],
          [t('accelerators.source'), t(`source.${device.source}`)],
        ]}
      />
      {device.partitions.length > 0 && (
        <>
          <h3 className="pt-5 pb-2 text-sm font-semibold">{t('accelerators.partitions')}</h3>
          <ul className="flex flex-col gap-1.5 text-sm">
            {device.partitions.map((part) => (
              <li key={`${part.kind} ${part.index} ${part.uuid}`} className="flex flex-wrap items-baseline gap-2">
                <Badge>{part.kind}</Badge>
                <span>{part.profile}</span>
                <span className="text-muted">{formatBytes(part.memoryTotalBytes)}</span>
                {part.uuid && <code className="font-mono text-xs break-all text-faint">{part.uuid}</code>}
              </li>
            ))}
          </ul>
        </>
      )}
    </Dialog>
  )
}

/** A node's accelerators with a details dialog; cards on a phone. */
export function AcceleratorTable({ devices, action }: { devices: readonly AcceleratorLine[]; action: React.ReactNode }) {
  const [open, setOpen] = useState<AcceleratorLine | null>(null)
  if (devices.length === 0) {
    return (
      <Empty icon={<Cpu aria-hidden />} title={t('accelerators.emptyTitle')} action={action}>
        <p>{t('accelerators.emptyText')}</p>
      </Empty>
    )
  }
  const heads = ['index', 'model', 'health', 'memory', 'utilization', 'temperature', 'power', 'pci', 'driver'] as const
  return (
    <div className="rounded-lg border border-line bg-panel">
      <div className="hidden overflow-x-auto md:block">
        <table className="w-full text-sm">
          <thead>
            <tr className="border-b border-line text-left text-xs text-muted">
              {heads.map((head) => (
                <th key={head} scope="col" className="h-9 px-4 font-medium whitespace-nowrap">
                  {t(`accelerators.${head}`)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {devices.map((device) => (
              <tr key={device.id} className="border-b border-line last:border-0 hover:bg-hover">
                <td className="h-9 px-4 tabular-nums">{device.index}</td>
                <td className="px-4">
                  <button type="button" className="text-left font-medium hover:underline" onClick={() => setOpen(device)}>
                    {device.model ?? t(`deviceType.${device.deviceType}`)}
                  </button>
                  {device.partitions.length > 0 && (
                    <span className="ml-2">
                      <Badge tone="accent">{t('accelerators.partitionCount', { count: device.partitions.length })}</Badge>
                    </span>
                  )}
                  {device.source === 'PCI' && (
                    <span className="ml-2">
                      <Badge tone="warn">{t('source.PCI')}</Badge>
                    </span>
                  )}
                </td>
                <td className="px-4 py-1">
                  <AcceleratorHealth device={device} />
                </td>
                <td className="px-4">
                  <Memory device={device} />
                </td>
                <td className="px-4 whitespace-nowrap tabular-nums">{unit(device.utilizationPercent, 'unit.percent')}</td>
                <td className="px-4 whitespace-nowrap tabular-nums">{unit(device.temperatureCelsius, 'unit.celsius')}</td>
                <td className="px-4 whitespace-nowrap tabular-nums">{unit(device.powerWatts, 'unit.watt')}</td>
                <td className="px-4 font-mono text-xs whitespace-nowrap text-muted">{device.pciAddress ?? t('common.none')}</td>
                <td className="px-4 font-mono text-xs whitespace-nowrap text-muted">
                  {device.driverVersion ?? t('common.none')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <ul className="md:hidden">
        {devices.map((device) => (
          <li key={device.id} className="border-b border-line last:border-0">
            <button type="button" className="flex w-full flex-col gap-1.5 px-3 py-2.5 text-left" onClick={() => setOpen(device)}>
              <span className="flex items-center justify-between gap-2 text-sm">
                <span className="min-w-0 truncate font-medium">
                  <span className="pr-2 text-faint tabular-nums">{device.index}</span>
                  {device.model ?? t(`deviceType.${device.deviceType}`)}
                </span>
                <State tone={healthTones[device.health]}>{t(`health.${device.health}`)}</State>
              </span>
              {device.healthReason && <span className="text-xs break-words text-muted">{device.healthReason}</span>}
              <span className="flex items-center justify-between gap-2 text-xs text-muted tabular-nums">
                <Memory device={device} />
                <span className="flex gap-3">
                  <span>{unit(device.utilizationPercent, 'unit.percent')}</span>
                  <span>{unit(device.temperatureCelsius, 'unit.celsius')}</span>
                  <span>{unit(device.powerWatts, 'unit.watt')}</span>
                </span>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {open && <AcceleratorDialog device={open} onClose={() => setOpen(null)} />}
    </div>
  )
}

'use client'
import Link from 'next/link'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { PowerStateBadge } from '../power-badges.tsx'
import type { FoundBmc } from './documents.ts'

type Props = {
  rows: readonly FoundBmc[]
  selected: ReadonlySet<string>
  onToggle: (index: number, isRange: boolean) => void
}

/** Found BMCs with the node that matches, or why a person must decide. */
export function FoundList({ rows, selected, onToggle }: Props) {
  return (
    <ul aria-label={t('bmcDiscovery.found')} className="divide-y divide-line rounded-lg border border-line bg-panel">
      {rows.map((bmc, i) => {
        const { inventory } = bmc
        const product = [inventory?.manufacturer, inventory?.model].filter(Boolean).join(' ') || bmc.product
        return (
          <li key={bmc.id} className="flex items-start gap-3 px-3 py-2.5 text-sm">
            <input
              type="checkbox"
              className="mt-1 size-4 shrink-0 accent-accent"
              aria-label={t('bmcDiscovery.select', { address: bmc.id.trim() })}
              checked={selected.has(bmc.id)}
              onChange={() => {}}
              onClick={(event) => onToggle(i, event.shiftKey)}
            />
            <div className="flex min-w-0 flex-1 flex-col gap-1">
              <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
                <code className="font-mono text-xs font-medium break-all">
                  {bmc.address}
                  {bmc.systemPath && <span className="text-muted"> {bmc.systemPath.replace('/redfish/v1/', '')}</span>}
                </code>
                {bmc.powerState && <PowerStateBadge state={bmc.powerState} />}
                {product && <span className="text-muted">{product}</span>}
                {inventory?.serial && (
                  <span className="break-all text-muted">{t('unknownMachine.serial', { serial: inventory.serial })}</span>
                )}
                <span className="ml-auto flex flex-wrap items-center gap-2">
                  {bmc.node ? (
                    <>
                      <Link
                        href={`/nodes/${encodeURIComponent(bmc.node.id)}?tab=power`}
                        className="font-mono text-xs font-medium hover:underline"
                      >
                        {bmc.node.name}
                      </Link>
                      {bmc.matchedBy && <Badge>{bmc.matchedBy}</Badge>}
                    </>
                  ) : (
                    <span className="text-faint">{t('bmcDiscovery.noNode')}</span>
                  )}
                </span>
              </div>
              {bmc.conflict && <p className="text-xs break-words text-warn">{bmc.conflict}</p>}
              {bmc.message && <p className="text-xs break-words text-muted">{bmc.message}</p>}
              {bmc.fingerprint && (
                <p className="font-mono text-[11px] break-all text-faint">
                  {t('bmcDiscovery.fingerprint', { sum: bmc.fingerprint })}
                </p>
              )}
            </div>
          </li>
        )
      })}
    </ul>
  )
}

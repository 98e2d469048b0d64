'use client'
import Link from 'next/link'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import type { Machine } from './documents.ts'

type Props = { machines: readonly Machine[]; onAccept: (machine: Machine) => void; onReject: (machine: Machine) => void }

/** Machines with what their firmware reported, and the decisions. */
export function MachineList({ machines, onAccept, onReject }: Props) {
  return (
    <ul className="divide-y divide-line rounded-lg border border-line bg-panel">
      {machines.map((machine) => (
        <li key={machine.id} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-3 py-2.5 text-sm">
          <div className="flex min-w-0 flex-1 basis-64 flex-col gap-0.5">
            <div className="flex flex-wrap items-center gap-x-3">
              <code className="font-mono text-xs font-medium">{machine.mac}</code>
              {machine.arch && <span className="text-muted">{machine.arch}</span>}
              {machine.serial && <span className="break-all">{t('unknownMachine.serial', { serial: machine.serial })}</span>}
              {machine.node && (
                <Link href={`/nodes/${encodeURIComponent(machine.node.id)}`} className="font-mono hover:underline">
                  {machine.node.name}
                </Link>
              )}
            </div>
            <p className="text-xs break-words text-muted">
              {t.rich('unknownMachine.seen', {
                count: machine.requests,
                time: () => <RelativeTime at={machine.lastSeenAt} />,
              })}
              {machine.seenFrom && ` · ${t('unknownMachine.from', { address: machine.seenFrom })}`}
              {machine.systemUuid && ` · ${machine.systemUuid}`}
            </p>
            {machine.rejectedReason && <p className="text-xs break-words">{machine.rejectedReason}</p>}
          </div>
          {machine.state !== 'ACCEPTED' && (
            <div className="flex gap-2">
              <Button
                blockedReason={machine.acceptBlockedReason}
                aria-label={t('unknownMachine.acceptName', { mac: machine.mac })}
                onClick={() => onAccept(machine)}
              >
                {t('unknownMachine.accept')}
              </Button>
              {machine.state === 'NEW' && (
                <Button
                  variant="quiet"
                  blockedReason={machine.rejectBlockedReason}
                  aria-label={t('unknownMachine.rejectName', { mac: machine.mac })}
                  onClick={() => onReject(machine)}
                >
                  {t('unknownMachine.reject')}
                </Button>
              )}
            </div>
          )}
        </li>
      ))}
    </ul>
  )
}

'use client'
import { HardDriveDownload } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { AcceptDialog } from '@/boot/unknown-machines/accept-dialog.tsx'
import { type Machine, RejectUnknownMachine, UnknownMachinesQuery } from '@/boot/unknown-machines/documents.ts'
import { MachineList } from '@/boot/unknown-machines/machine-list.tsx'
import { RuleList } from '@/boot/unknown-machines/rule-list.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { usePolling } from '@/system/use-polling.ts'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

const POLL_MS = 5000
const states = ['NEW', 'ACCEPTED', 'REJECTED'] as const

/** Machines that asked for a boot script with a MAC that no node has. */
export default function UnknownMachinesPage() {
  useTitle(t('unknownMachine.title'))
  const query = useQueryState()
  const state = states.find((each) => each === query.get('state')) ?? 'NEW'
  const list = useConnection('unknown-machines', UnknownMachinesQuery, { filter: { state } }, (data) => data.unknownMachines)
  usePolling(true, () => void list.reload(), POLL_MS)
  const reject = useMutation(RejectUnknownMachine)
  const [dialog, setDialog] = useState<{ kind: 'accept' | 'reject'; machine: Machine } | null>(null)
  const close = () => setDialog(null)
  return (
    <>
      <PageHead
        above={
          <Link href="/boot/profiles" className="hover:underline">
            {t('bootProfile.title')}
          </Link>
        }
        title={t('unknownMachine.title')}
        count={list.total === null ? undefined : formatNumber(list.total)}
        below={<p className="text-sm text-muted">{t('unknownMachine.text')}</p>}
      >
        <FilterSelect
          label={t('unknownMachine.state')}
          value={state}
          onChange={(value) => query.set({ state: value === 'NEW' ? null : value })}
        >
          {states.map((each) => (
            <option key={each} value={each}>
              {t(`unknownMachineState.${each}`)}
            </option>
          ))}
        </FilterSelect>
      </PageHead>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('unknownMachine.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : list.isLoading ? (
        <Skeleton className="h-48 w-full" />
      ) : list.rows.length === 0 ? (
        <Empty icon={<HardDriveDownload aria-hidden />} title={t('unknownMachine.emptyTitle')}>
          {state === 'NEW' && <p>{t('unknownMachine.emptyText')}</p>}
        </Empty>
      ) : (
        <div className="flex flex-col gap-3">
          <MachineList
            machines={list.rows}
            onAccept={(machine) => setDialog({ kind: 'accept', machine })}
            onReject={(machine) => setDialog({ kind: 'reject', machine })}
          />
          {list.hasMore && (
            <Button className="self-center" onClick={list.more}>
              {t('common.loadMore')}
            </Button>
          )}
        </div>
      )}
      <div className="pt-6">
        <RuleList onChange={() => void list.reload()} />
      </div>
      {dialog?.kind === 'accept' && (
        <AcceptDialog
          machine={dialog.machine}
          onClose={(isAccepted) => {
            close()
            if (isAccepted) void list.reload()
          }}
        />
      )}
      {dialog?.kind === 'reject' && (
        <Confirm
          title={t('unknownMachine.rejectTitle', { mac: dialog.machine.mac })}
          action={t('unknownMachine.reject')}
          onConfirm={async () => {
            const outcome = await reject.run({ id: dialog.machine.id, reason: null })
            if (outcome.ok) void list.reload()
            return outcome
          }}
          onClose={close}
        >
          <p>{t('unknownMachine.rejectText')}</p>
        </Confirm>
      )}
    </>
  )
}

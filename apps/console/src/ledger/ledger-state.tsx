import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel, PropertyList } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { type Ledger, UpdateLedgerSettings } from './documents.ts'

/** Whether nodes are recorded, and what is needed to verify the ledger elsewhere. */
export function LedgerState({ ledger, onChange }: { ledger: Ledger; onChange: () => void }) {
  const mutation = useMutation(UpdateLedgerSettings)
  const { isEnabled, recordedAt, checkpoint, verifierKeys, updateBlockedReason } = ledger
  return (
    <Panel
      title={t('ledger.state')}
      actions={
        <Button
          variant={isEnabled ? 'plain' : 'primary'}
          busy={mutation.busy}
          blockedReason={updateBlockedReason}
          onClick={async () => {
            const outcome = await mutation.run({ input: { isEnabled: !isEnabled } })
            if (outcome.ok) onChange()
          }}
        >
          {t(isEnabled ? 'ledger.disable' : 'ledger.enable')}
        </Button>
      }
    >
      <div className="flex flex-col gap-4">
        {mutation.problem && <Notice tone="bad">{mutation.problem.message}</Notice>}
        <PropertyList
          rows={[
            [t('ledger.recording'), t(isEnabled ? 'ledger.enabled' : 'ledger.disabled')],
            [t('ledger.recordedAt'), <RelativeTime key="time" at={recordedAt} never={t('ledger.never')} />],
            [t('ledger.entries'), t('ledger.entryCount', { count: checkpoint?.size ?? 0 })],
          ]}
        />
        {checkpoint && <Copied label={t('ledger.checkpoint')} text={checkpoint.note} />}
        {verifierKeys.length > 0 && <Copied label={t('ledger.keys')} text={verifierKeys.join('\n')} />}
        {checkpoint && <p className="text-sm text-muted">{t('ledger.verify')}</p>}
      </div>
    </Panel>
  )
}

function Copied({ label, text }: { label: string; text: string }) {
  return (
    <div className="flex flex-col gap-1">
      <div className="flex items-center justify-between gap-2">
        <h3 className="text-sm font-medium">{label}</h3>
        <CopyButton text={text} />
      </div>
      <pre className="rounded-md border border-line bg-sunken p-3 font-mono text-xs break-all whitespace-pre-wrap">{text}</pre>
    </div>
  )
}

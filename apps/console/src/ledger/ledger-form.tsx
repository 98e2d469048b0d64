import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { NumberForm } from '@/ui/number-form.tsx'
import { type Ledger, UpdateLedgerSettings } from './documents.ts'

const fields = ['intervalSeconds', 'maxAgeSeconds'] as const

/** How often nodes are recorded. */
export function LedgerForm({ ledger }: { ledger: Ledger }) {
  const mutation = useMutation(UpdateLedgerSettings)
  return (
    <NumberForm
      parts={[
        {
          title: t('ledger.frequency'),
          fields: fields.map((name) => ({
            name,
            label: t(`ledger.${name}`),
            hint: t(`ledger.${name}Hint`),
            min: name === 'intervalSeconds' ? 5 : 60,
            blockedReason: ledger.updateBlockedReason,
          })),
        },
      ]}
      values={ledger}
      savedText={t('ledger.saved')}
      save={async (changed) => {
        const outcome = await mutation.run({ input: changed })
        return outcome.ok ? outcome.value.ledger : null
      }}
      busy={mutation.busy}
      problem={mutation.problem}
      issueFor={(name) => issueFor(mutation.problem, name)}
    />
  )
}

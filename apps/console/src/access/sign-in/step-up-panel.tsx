'use client'
import { useQuery } from 'urql'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Failure } from '@/ui/failure.tsx'
import { SelectField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'
import { useBlockedReason } from '../viewer.tsx'
import { SetStepUp, StepUpQuery } from './step-up-documents.ts'

const CHOICES = [5, 15, 30, 60, 240]

/** After which time members of the tenant confirm their identity for sensitive changes. */
export function StepUpPanel() {
  const [{ data, error }, read] = useQuery({ query: StepUpQuery, requestPolicy: 'cache-and-network' })
  const set = useMutation(SetStepUp)
  const blockedReason = useBlockedReason('tenant:set_step_up')
  const minutes = data?.viewer?.tenant.stepUpMinutes
  const choices = minutes && !CHOICES.includes(minutes) ? [...CHOICES, minutes].sort((a, b) => a - b) : CHOICES
  async function change(value: string) {
    if ((await set.run({ input: { minutes: value === '' ? null : Number(value) } })).ok) toast('ok', t('stepUp.saved'))
  }
  return (
    <Panel title={t('stepUp.setting')}>
      {data?.viewer ? (
        <div className="flex max-w-md flex-col gap-3">
          <p className="text-sm text-muted">{t('stepUp.settingText')}</p>
          {set.problem && <Notice tone="bad">{set.problem.message}</Notice>}
          <SelectField
            label={t('stepUp.after')}
            hint={blockedReason}
            disabled={blockedReason !== null || set.busy}
            value={minutes ?? ''}
            onChange={(event) => void change(event.target.value)}
          >
            <option value="">{t('stepUp.never')}</option>
            {choices.map((each) => (
              <option key={each} value={each}>
                {t('stepUp.minutes', { count: each })}
              </option>
            ))}
          </SelectField>
        </div>
      ) : error ? (
        <Failure
          title={t('signInMethods.loadFailed')}
          message={toProblem(error).message}
          onRetry={() => read({ requestPolicy: 'network-only' })}
        />
      ) : (
        <Skeleton className="h-16 w-full" />
      )}
    </Panel>
  )
}

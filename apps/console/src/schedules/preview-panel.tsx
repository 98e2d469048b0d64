'use client'
import { useQuery } from 'urql'
import { toProblem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { useSettled } from '@/ui/hooks/use-settled.ts'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { PreviewQuery } from './documents.ts'
import type { timingOf } from './form-values.ts'
import { ruleLanguage } from './language.ts'
import { NextTimes } from './next-times.tsx'

type Timing = ReturnType<typeof timingOf>

/** What the rule means, while it is typed. */
export function PreviewPanel({ timing }: { timing: Timing }) {
  const settled = JSON.parse(useSettled(JSON.stringify(timing))) as Timing
  const [{ data, error }] = useQuery({
    query: PreviewQuery,
    variables: { input: settled, language: ruleLanguage() },
    pause: settled.rule === '',
  })
  const result = data?.previewSchedule
  return (
    <Panel title={t('schedule.nextTimes')}>
      <div aria-live="polite" className="flex flex-col gap-2">
        {settled.rule === '' ? (
          <p className="text-sm text-muted">{t('schedule.needRule')}</p>
        ) : error ? (
          <Notice tone="bad">{toProblem(error).message}</Notice>
        ) : !result ? (
          <Skeleton className="h-48 w-full" />
        ) : result.__typename === 'InvalidInputError' ? (
          <p className="text-sm text-bad">
            {result.issues.map(({ path, message }) => t('error.within', { name: labelOf(path), message })).join('\n')}
          </p>
        ) : (
          <>
            <p className="text-sm font-medium">{result.description}</p>
            <NextTimes times={result.times} timeZone={settled.timeZone} />
            {settled.jitterSeconds > 0 && <p className="text-xs text-muted">{t('schedule.jitterNote')}</p>}
          </>
        )}
      </div>
    </Panel>
  )
}

const LABELS = {
  rule: 'schedule.rule',
  timeZone: 'schedule.timeZone',
  jitterSeconds: 'schedule.jitter',
  startsAt: 'schedule.startsAt',
  endsAt: 'schedule.endsAt',
  blackouts: 'schedule.blackouts',
} as const
function labelOf(path: string): string {
  const name = path.replace(/^input\./, '').split('.')[0] as keyof typeof LABELS
  return name in LABELS ? t(LABELS[name]) : path
}

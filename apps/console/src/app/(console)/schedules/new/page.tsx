'use client'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { parseVars } from '@/runs/parse-vars.ts'
import { CreateSchedule, scheduleHref } from '@/schedules/documents.ts'
import { inputOf, newForm } from '@/schedules/form-values.ts'
import { ScheduleForm } from '@/schedules/schedule-form.tsx'
import { ButtonLink } from '@/ui/button.tsx'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { toast } from '@/ui/toast.tsx'

/** Creates a schedule. Links give its target, template and nodes. */
export default function NewSchedulePage() {
  useTitle(t('schedule.new'))
  const router = useRouter()
  const query = useQueryState()
  const create = useMutation(CreateSchedule)
  const denied = useBlockedReason('schedule:write')
  const [form, setForm] = useState(() =>
    newForm({
      target: query.get('target') === 'DISCOVERY' ? 'DISCOVERY' : 'RUN',
      template: query.get('template'),
      limit: query.get('limit'),
    }),
  )
  async function save() {
    const outcome = await create.run({ input: inputOf(form, parseVars(form.vars).vars, null) })
    if (!outcome.ok) return
    const { id, name } = outcome.value.schedule
    toast('ok', t('schedule.saved', { name }))
    router.replace(scheduleHref(id))
  }
  return (
    <>
      <PageHead
        above={
          <Link href="/schedules" className="hover:underline">
            {t('schedule.title')}
          </Link>
        }
        title={t('schedule.new')}
        below={<p className="text-sm text-muted">{t('schedule.ownerText')}</p>}
      />
      <ScheduleForm
        form={form}
        onChange={(change) => setForm((before) => ({ ...before, ...change }))}
        problem={create.problem}
        busy={create.busy}
        blockedReason={denied}
        isExisting={false}
        keepsSettings={false}
        onSave={() => void save()}
        cancel={
          <ButtonLink href="/schedules" variant="quiet">
            {t('common.cancel')}
          </ButtonLink>
        }
      />
    </>
  )
}

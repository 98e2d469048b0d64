'use client'
import { Pause, Play, Power, Trash2 } from 'lucide-react'
import Link from 'next/link'
import { useParams, useRouter } from 'next/navigation'
import { useState } from 'react'
import { useQuery } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useLive } from '@/graphql/use-live.ts'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { parseVars } from '@/runs/parse-vars.ts'
import { runHref } from '@/runs/run-line.tsx'
import {
  DeleteSchedule,
  DisableSchedule,
  EnableSchedule,
  RunSchedule,
  type Schedule,
  ScheduleQuery,
  ScheduleUpdated,
  UpdateSchedule,
} from '@/schedules/documents.ts'
import { FiringList } from '@/schedules/firing-list.tsx'
import { formOf, inputOf } from '@/schedules/form-values.ts'
import { ruleLanguage } from '@/schedules/language.ts'
import { NextTimes } from '@/schedules/next-times.tsx'
import { ScheduleForm } from '@/schedules/schedule-form.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead, Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { Tabs } from '@/ui/tabs.tsx'
import { toast } from '@/ui/toast.tsx'

function Editor({ schedule, onSaved }: { schedule: Schedule; onSaved: () => void }) {
  const update = useMutation(UpdateSchedule)
  const [form, setForm] = useState(() => formOf(schedule))
  const isChanged = JSON.stringify(form) !== JSON.stringify(formOf(schedule))
  async function save() {
    const { target: _target, ...changes } = inputOf(form, parseVars(form.vars).vars, schedule)
    const outcome = await update.run({ input: { ...changes, id: schedule.id } })
    if (!outcome.ok) return
    toast('ok', t('schedule.saved', { name: outcome.value.schedule.name }))
    onSaved()
  }
  return (
    <ScheduleForm
      form={form}
      onChange={(change) => setForm((before) => ({ ...before, ...change }))}
      problem={update.problem}
      busy={update.busy}
      blockedReason={schedule.updateBlockedReason ?? (isChanged ? null : t('bulk.nothing'))}
      isExisting
      keepsSettings={schedule.settings.drainsSlurmNodes}
      onSave={() => void save()}
      cancel={<span className="text-xs text-muted">{t('schedule.becomeOwner')}</span>}
    />
  )
}

const tabs = ['history', 'edit'] as const

function Loaded({ schedule, reload }: { schedule: Schedule; reload: () => void }) {
  const router = useRouter()
  const query = useQueryState()
  const tab = tabs.find((each) => each === query.get('tab')) ?? 'history'
  const start = useMutation(RunSchedule)
  const enable = useMutation(EnableSchedule)
  const disable = useMutation(DisableSchedule)
  const remove = useMutation(DeleteSchedule)
  const denied = useBlockedReason('schedule:write')
  const [isDeleting, setIsDeleting] = useState(false)
  const { id, name, isEnabled, timeZone, updateBlockedReason } = schedule
  async function run() {
    const outcome = await start.run({ input: { id } })
    if (!outcome.ok) return toast('bad', outcome.problem.message)
    const { run, discoveryCount } = outcome.value.firing
    if (run) return router.push(runHref(run.id))
    toast('ok', t('schedule.discoveries', { count: discoveryCount }))
    reload()
  }
  async function toggle() {
    const outcome = await (isEnabled ? disable : enable).run({ input: { id } })
    if (!outcome.ok) toast('bad', outcome.problem.message)
    reload()
  }
  async function confirmDelete() {
    const outcome = await remove.run({ input: { id } })
    if (outcome.ok) {
      toast('ok', t('schedule.deleted', { name }))
      router.replace('/schedules')
    }
    return outcome
  }
  return (
    <>
      <PageHead
        above={
          <Link href="/schedules" className="hover:underline">
            {t('schedule.title')}
          </Link>
        }
        title={
          <>
            <span className="min-w-0 truncate">{name}</span>
            {!isEnabled && <Badge>{t('schedule.disabled')}</Badge>}
          </>
        }
        below={
          <p className="text-sm text-muted wrap-anywhere">
            {schedule.template?.displayName ?? t('scheduleTarget.DISCOVERY')} ·{' '}
            <span className="font-mono text-xs">{schedule.limit}</span> · {t('schedule.ownedBy', { name: schedule.owner.name })}
          </p>
        }
      >
        <Button icon={<Play aria-hidden />} busy={start.busy} blockedReason={denied} onClick={() => void run()}>
          {t('schedule.runNow')}
        </Button>
        <Button
          icon={isEnabled ? <Pause aria-hidden /> : <Power aria-hidden />}
          busy={enable.busy || disable.busy}
          blockedReason={updateBlockedReason}
          onClick={() => void toggle()}
        >
          {t(isEnabled ? 'schedule.disable' : 'schedule.enable')}
        </Button>
        <Button
          variant="danger"
          icon={<Trash2 aria-hidden />}
          blockedReason={updateBlockedReason}
          onClick={() => setIsDeleting(true)}
        >
          {t('schedule.delete')}
        </Button>
      </PageHead>
      {schedule.description && <p className="pb-4 text-sm wrap-anywhere">{schedule.description}</p>}
      <Tabs
        label={t('schedule.views')}
        value={tab}
        onChange={(next) => query.set({ tab: next === 'history' ? null : next })}
        tabs={[
          { key: 'history', label: t('schedule.overview') },
          { key: 'edit', label: t('schedule.edit') },
        ]}
      >
        {tab === 'history' && (
          <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_320px]">
            <FiringList id={id} timeZone={timeZone} latest={schedule.firings.edges[0]?.node.id} />
            <div className="flex flex-col gap-4 max-lg:order-first">
              <Panel title={t('schedule.nextTimes')}>
                <div className="flex flex-col gap-2">
                  <p className="text-sm font-medium">{schedule.ruleText}</p>
                  <p className="text-xs text-muted">
                    <span className="font-mono wrap-anywhere">{schedule.rule}</span> · {timeZone}
                  </p>
                  {isEnabled ? (
                    <NextTimes times={schedule.nextTimes} timeZone={timeZone} />
                  ) : (
                    <p className="text-sm text-muted">{t('schedule.disabledText')}</p>
                  )}
                </div>
              </Panel>
            </div>
          </div>
        )}
        {tab === 'edit' && <Editor key={schedule.updatedAt} schedule={schedule} onSaved={reload} />}
      </Tabs>
      {isDeleting && (
        <Confirm
          title={t('schedule.deleteTitle', { name })}
          action={t('schedule.delete')}
          onConfirm={confirmDelete}
          onClose={() => setIsDeleting(false)}
        >
          <p>{t('schedule.deleteText')}</p>
        </Confirm>
      )}
    </>
  )
}

/** The page of a schedule. */
export default function SchedulePage() {
  const id = decodeURIComponent(String(useParams().id))
  const [{ data, error }, refetch] = useQuery({
    query: ScheduleQuery,
    variables: { id, language: ruleLanguage() },
    requestPolicy: 'cache-and-network',
  })
  const reload = () => refetch({ requestPolicy: 'network-only' })
  // What was due has other next times.
  useLive(ScheduleUpdated, { id }, reload)
  const schedule = data?.node?.__typename === 'Schedule' ? data.node : null
  useTitle(schedule?.name ?? t('schedule.title'))
  if (schedule) return <Loaded key={schedule.id} schedule={schedule} reload={reload} />
  if (error) return <Failure title={t('schedule.loadFailed')} message={toProblem(error).message} onRetry={reload} />
  if (data)
    return <Empty title={t('schedule.notFound')} action={<ButtonLink href="/schedules">{t('schedule.title')}</ButtonLink>} />
  return (
    <div className="flex flex-col gap-4">
      <Skeleton className="h-7 w-56" />
      <Skeleton className="h-96 w-full" />
    </div>
  )
}

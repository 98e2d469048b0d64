'use client'
import { Trash2 } from 'lucide-react'
import Link from 'next/link'
import { useParams, useRouter } from 'next/navigation'
import { useState } from 'react'
import { useQuery } from 'urql'
import { AssignmentsTab } from '@/boot/profiles/assignments-tab.tsx'
import { DeleteProfile, type Profile, ProfileQuery, UpdateProfile } from '@/boot/profiles/documents.ts'
import { formOf, inputOf } from '@/boot/profiles/form-values.ts'
import { HistoryTab } from '@/boot/profiles/history-tab.tsx'
import { ProfileForm } from '@/boot/profiles/profile-form.tsx'
import { Origins } from '@/boot/profiles/values.tsx'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead, Panel } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { Tabs } from '@/ui/tabs.tsx'
import { toast } from '@/ui/toast.tsx'

const tabs = ['edit', 'result', 'assignments', 'history'] as const
type Tab = (typeof tabs)[number]

/** Edits the newest version. A new version from elsewhere does not replace what was typed. */
function Editor({ profile, reload }: { profile: Profile; reload: () => void }) {
  const update = useMutation(UpdateProfile)
  const [base, setBase] = useState(profile)
  const [form, setForm] = useState(() => formOf(profile.content, profile.parent?.id ?? null))
  const start = formOf(base.content, base.parent?.id ?? null)
  const isChanged = JSON.stringify({ ...form, comment: '' }) !== JSON.stringify(start)
  const load = () => {
    setBase(profile)
    setForm(formOf(profile.content, profile.parent?.id ?? null))
    update.clear()
  }
  // Nothing was typed, so nothing can be lost.
  if (!isChanged && profile.version > base.version) load()
  async function save() {
    const outcome = await update.run({ input: { id: base.id, version: base.version, ...inputOf(form) } })
    if (!outcome.ok) return
    const saved = outcome.value.bootProfile
    setBase(saved)
    setForm(formOf(saved.content, saved.parent?.id ?? null))
    toast('ok', t('bootProfile.saved', { name: base.name }))
  }
  return (
    <div className="flex flex-col gap-4">
      {profile.version > base.version && (
        <Notice tone="warn" action={<Button onClick={load}>{t('bootProfile.loadNewest')}</Button>}>
          {t('bootProfile.newer', { name: profile.updatedBy.name, number: String(profile.version) })}
        </Notice>
      )}
      <ProfileForm
        form={form}
        onChange={(change) => setForm((before) => ({ ...before, ...change }))}
        problem={update.problem}
        own={base.name}
        busy={update.busy}
        blockedReason={profile.updateBlockedReason ?? (isChanged ? null : t('bulk.nothing'))}
        onSave={() => void save().then(reload)}
      />
    </div>
  )
}

function Loaded({ profile, reload }: { profile: Profile; reload: () => void }) {
  const router = useRouter()
  const query = useQueryState()
  const requested = query.get('tab') as Tab
  const tab = tabs.includes(requested) ? requested : 'edit'
  const remove = useMutation(DeleteProfile)
  const [isDeleting, setIsDeleting] = useState(false)
  const { id, name, version, updatedBy, updatedAt, resolved, deleteBlockedReason } = profile
  async function run() {
    const outcome = await remove.run({ input: { id } })
    if (outcome.ok) {
      toast('ok', t('bootProfile.deleted', { name }))
      router.replace('/boot/profiles')
    }
    return outcome
  }
  return (
    <>
      <PageHead
        above={
          <Link href="/boot/profiles" className="hover:underline">
            {t('bootProfile.title')}
          </Link>
        }
        title={<span className="truncate font-mono">{name}</span>}
        below={
          <p className="text-sm text-muted">
            {t('bootProfile.version', { number: String(version) })} · {updatedBy.name} · <RelativeTime at={updatedAt} />
          </p>
        }
      >
        <Button
          variant="danger"
          icon={<Trash2 aria-hidden />}
          blockedReason={deleteBlockedReason}
          onClick={() => setIsDeleting(true)}
        >
          {t('bootProfile.delete')}
        </Button>
      </PageHead>
      {resolved.problems.map((problem) => (
        <div key={problem} className="pb-4">
          <Notice tone="warn">{problem}</Notice>
        </div>
      ))}
      <Tabs
        label={t('bootProfile.views')}
        value={tab}
        onChange={(next) => query.set({ tab: next === 'edit' ? null : next })}
        tabs={[
          { key: 'edit', label: t('bootProfile.edit') },
          { key: 'result', label: t('bootProfile.result') },
          { key: 'assignments', label: t('bootProfile.assignments') },
          { key: 'history', label: t('bootProfile.history') },
        ]}
      >
        <div hidden={tab !== 'edit'}>
          <Editor profile={profile} reload={reload} />
        </div>
        {tab === 'result' && (
          <Panel title={t('bootProfile.values')}>
            {resolved.origins.length > 0 ? (
              <Origins origins={resolved.origins} own={name} />
            ) : (
              <p className="text-sm text-muted">{t('bootProfile.nothingSet')}</p>
            )}
          </Panel>
        )}
        {tab === 'assignments' && <AssignmentsTab profile={profile} onChanged={reload} />}
        {tab === 'history' && <HistoryTab profile={profile} onRestored={reload} />}
      </Tabs>
      {isDeleting && (
        <Confirm
          title={t('bootProfile.deleteTitle', { name })}
          action={t('bootProfile.delete')}
          onConfirm={run}
          onClose={() => setIsDeleting(false)}
        >
          <p>{t('bootProfile.deleteText')}</p>
        </Confirm>
      )}
    </>
  )
}

/** The page of a boot profile. */
export default function BootProfilePage() {
  const name = decodeURIComponent(String(useParams().name))
  const [{ data, error }, refetch] = useQuery({
    query: ProfileQuery,
    variables: { name },
    requestPolicy: 'cache-and-network',
  })
  const reload = () => refetch({ requestPolicy: 'network-only' })
  useTitle(name)
  if (data?.bootProfile) return <Loaded key={data.bootProfile.id} profile={data.bootProfile} reload={reload} />
  if (error) return <Failure title={t('bootProfile.loadFailed')} message={toProblem(error).message} onRetry={reload} />
  if (data)
    return (
      <Empty
        title={t('bootProfile.notFound', { name })}
        action={<ButtonLink href="/boot/profiles">{t('bootProfile.title')}</ButtonLink>}
      />
    )
  return (
    <div className="flex flex-col gap-4">
      <Skeleton className="h-7 w-56" />
      <Skeleton className="h-96 w-full" />
    </div>
  )
}

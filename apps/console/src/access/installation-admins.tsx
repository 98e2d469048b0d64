import { Plus } from 'lucide-react'
import { useState } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Failure } from '@/ui/failure.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import {
  AppointInstallationAdmin,
  DismissInstallationAdmin,
  type InstallationAdmin,
  InstallationAdminsQuery,
} from './tenant-documents.ts'

type Open = { kind: 'appoint' } | { kind: 'dismiss'; admin: InstallationAdmin } | null

/** Lists the installation administrators; appoints and dismisses them. */
export function InstallationAdmins() {
  const list = useConnection('installationAdmins', InstallationAdminsQuery, {}, (data) => data.installationAdmins)
  const dismiss = useMutation(DismissInstallationAdmin)
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const reload = () => void list.reload()
  return (
    <section aria-labelledby="installation-admins" className="flex flex-col gap-3 pt-8">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <h2 id="installation-admins" className="text-base font-semibold">
          {t('installationAdmins.title')}
        </h2>
        <Button icon={<Plus aria-hidden />} onClick={() => setOpen({ kind: 'appoint' })}>
          {t('installationAdmins.appoint')}
        </Button>
      </div>
      <p className="text-sm text-muted">{t('installationAdmins.lead')}</p>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('installationAdmins.loadFailed')} message={list.problem.message} onRetry={reload} />
      ) : (
        <ul className="rounded-lg border border-line bg-panel">
          {list.isLoading ? (
            <SkeletonRows rows={2} height={56} />
          ) : (
            list.rows.map((admin) => (
              <li
                key={admin.id}
                className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-4 py-2.5 text-sm last:border-0"
              >
                <span className="font-medium">{admin.name}</span>
                <span className="min-w-0 flex-1 basis-48 truncate text-muted">{admin.email}</span>
                <Button variant="danger" onClick={() => setOpen({ kind: 'dismiss', admin })}>
                  {t('installationAdmins.dismiss')}
                </Button>
              </li>
            ))
          )}
        </ul>
      )}
      {list.hasMore && (
        <div className="flex justify-center">
          <Button onClick={list.more}>{t('common.loadMore')}</Button>
        </div>
      )}
      {open?.kind === 'appoint' && <AppointDialog onClose={close} onSaved={reload} />}
      {open?.kind === 'dismiss' && (
        <Confirm
          title={t('installationAdmins.dismissTitle', { name: open.admin.name })}
          action={t('installationAdmins.dismiss')}
          onClose={close}
          onConfirm={async () => {
            const outcome = await dismiss.run({ userId: open.admin.id })
            reload()
            return outcome
          }}
        >
          <p>{t('installationAdmins.dismissText')}</p>
        </Confirm>
      )}
    </section>
  )
}

function AppointDialog({ onClose, onSaved }: { onClose: () => void; onSaved: () => void }) {
  const appoint = useMutation(AppointInstallationAdmin)
  const [email, setEmail] = useState('')
  const blockedReason = email.trim() ? null : t('installationAdmins.needEmail')
  async function save() {
    if (!(await appoint.run({ email })).ok) return
    onSaved()
    onClose()
  }
  return (
    <Dialog
      title={t('installationAdmins.appoint')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button variant="primary" busy={appoint.busy} showReason blockedReason={blockedReason} onClick={() => void save()}>
            {t('installationAdmins.appointAction')}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!blockedReason && !appoint.busy) void save()
        }}
      >
        {appoint.problem && appoint.problem.issues.length === 0 && <Notice tone="bad">{appoint.problem.message}</Notice>}
        <TextField
          label={t('installationAdmins.email')}
          type="email"
          autoFocus
          value={email}
          error={issueFor(appoint.problem, 'email')}
          hint={t('installationAdmins.emailHint')}
          onChange={(event) => setEmail(event.target.value)}
        />
      </form>
    </Dialog>
  )
}

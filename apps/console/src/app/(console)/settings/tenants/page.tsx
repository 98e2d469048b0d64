'use client'
import { Pencil, Plus } from 'lucide-react'
import { useState } from 'react'
import { InstallationAdmins } from '@/access/installation-admins.tsx'
import { TenantDialog } from '@/access/tenant-dialog.tsx'
import { DeleteTenant, ResumeTenant, SuspendTenant, type Tenant, TenantsQuery } from '@/access/tenant-documents.ts'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'

type Open = { kind: 'new' } | { kind: 'edit' | 'suspend' | 'delete'; tenant: Tenant } | null

type CountKey = 'tenants.nodes' | 'tenants.runs'
const ofQuota = (plain: CountKey, limited: `${CountKey}Of`, count: number, quota: number | null): string =>
  quota === null ? t(plain, { count }) : t(limited, { count: formatNumber(count), quota })

function TenantItem({ tenant, onOpen, onResume }: { tenant: Tenant; onOpen: (open: Open) => void; onResume: () => void }) {
  const { name, createdAt, suspendedAt, suspendedBy, deletedAt, deletedBy } = tenant
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-4 py-3 text-sm last:border-0">
      <div className="flex min-w-0 flex-1 basis-56 flex-wrap items-center gap-2">
        <span className={suspendedAt ? 'text-muted' : 'font-medium'}>{name}</span>
        {deletedAt && <Badge tone="bad">{t('tenants.deleting', { name: deletedBy?.name ?? '' })}</Badge>}
        {suspendedAt && !deletedAt && <Badge tone="warn">{t('tenants.suspended', { name: suspendedBy?.name ?? '' })}</Badge>}
      </div>
      <div className="flex flex-wrap gap-x-4 text-xs text-muted">
        <span>{ofQuota('tenants.nodes', 'tenants.nodesOf', tenant.nodeCount, tenant.maxNodes)}</span>
        <span>{ofQuota('tenants.runs', 'tenants.runsOf', tenant.activeRunCount, tenant.maxConcurrentRuns)}</span>
        <span>{t('tenants.members', { count: tenant.memberCount })}</span>
        <span>{t.rich('tokens.created', { time: () => <RelativeTime at={createdAt} /> })}</span>
      </div>
      {!deletedAt && (
        <div className="flex gap-2">
          <Button
            label={t('tenants.editName', { name })}
            icon={<Pencil aria-hidden />}
            onClick={() => onOpen({ kind: 'edit', tenant })}
          />
          {suspendedAt ? (
            <>
              <Button onClick={onResume}>{t('tenants.resume')}</Button>
              <Button
                variant="danger"
                blockedReason={tenant.deleteBlockedReason}
                onClick={() => onOpen({ kind: 'delete', tenant })}
              >
                {t('tenants.delete')}
              </Button>
            </>
          ) : (
            <Button
              variant="danger"
              blockedReason={tenant.suspendBlockedReason}
              onClick={() => onOpen({ kind: 'suspend', tenant })}
            >
              {t('tenants.suspend')}
            </Button>
          )}
        </div>
      )}
    </li>
  )
}

function TenantList() {
  const list = useConnection('tenants', TenantsQuery, {}, (data) => data.tenants)
  const suspend = useMutation(SuspendTenant)
  const resume = useMutation(ResumeTenant)
  const remove = useMutation(DeleteTenant)
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const reload = () => void list.reload()
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('tenants.loadFailed')} message={list.problem.message} onRetry={reload} />
  return (
    <>
      <PageHead title={t('tenants.title')} below={<p className="text-sm text-muted">{t('tenants.lead')}</p>}>
        <Button variant="primary" icon={<Plus aria-hidden />} onClick={() => setOpen({ kind: 'new' })}>
          {t('tenants.new')}
        </Button>
      </PageHead>
      {resume.problem && <Notice tone="bad">{resume.problem.message}</Notice>}
      <ul className="rounded-lg border border-line bg-panel">
        {list.isLoading ? (
          <SkeletonRows rows={3} height={60} />
        ) : (
          list.rows.map((tenant) => (
            <TenantItem
              key={tenant.id}
              tenant={tenant}
              onOpen={setOpen}
              onResume={() => void resume.run({ id: tenant.id }).then(reload)}
            />
          ))
        )}
      </ul>
      {list.hasMore && (
        <div className="flex justify-center pt-4">
          <Button onClick={list.more}>{t('common.loadMore')}</Button>
        </div>
      )}
      {(open?.kind === 'new' || open?.kind === 'edit') && (
        <TenantDialog tenant={open.kind === 'edit' ? open.tenant : null} onClose={close} onSaved={reload} />
      )}
      {open?.kind === 'suspend' && (
        <Confirm
          title={t('tenants.suspendTitle', { name: open.tenant.name })}
          action={t('tenants.suspend')}
          confirmText={open.tenant.name}
          onClose={close}
          onConfirm={async () => {
            const outcome = await suspend.run({ id: open.tenant.id })
            reload()
            return outcome
          }}
        >
          <p>{t('tenants.suspendText')}</p>
        </Confirm>
      )}
      {open?.kind === 'delete' && (
        <Confirm
          title={t('tenants.deleteTitle', { name: open.tenant.name })}
          action={t('tenants.delete')}
          confirmText={open.tenant.name}
          onClose={close}
          onConfirm={async () => {
            const outcome = await remove.run({ id: open.tenant.id })
            reload()
            return outcome
          }}
        >
          <p>{t('tenants.deleteText', { nodes: open.tenant.nodeCount, members: open.tenant.memberCount })}</p>
        </Confirm>
      )}
    </>
  )
}

/** The tenants of the installation, for its administrators. */
export default function TenantsPage() {
  useTitle(t('tenants.title'))
  const blocked = useBlockedReason('tenant:manage')
  if (blocked === null)
    return (
      <>
        <TenantList />
        <InstallationAdmins />
      </>
    )
  return <PageHead title={t('tenants.title')} below={<p className="text-sm text-muted">{blocked}</p>} />
}

import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { CreateTenant, type Tenant, UpdateTenant } from './tenant-documents.ts'

/** Creates a tenant, or changes its name and quotas. */
export function TenantDialog({ tenant, onClose, onSaved }: { tenant: Tenant | null; onClose: () => void; onSaved: () => void }) {
  const create = useMutation(CreateTenant)
  const update = useMutation(UpdateTenant)
  const [name, setName] = useState(tenant?.name ?? '')
  const [maxRuns, setMaxRuns] = useState(String(tenant?.maxConcurrentRuns ?? ''))
  const [maxNodes, setMaxNodes] = useState(String(tenant?.maxNodes ?? ''))
  const quota = (text: string) => (text === '' ? null : Number(text))
  const { busy, problem } = tenant ? update : create
  async function save() {
    const outcome = tenant
      ? await update.run({ input: { id: tenant.id, name, maxConcurrentRuns: quota(maxRuns), maxNodes: quota(maxNodes) } })
      : await create.run({ input: { name } })
    if (!outcome.ok) return
    onSaved()
    onClose()
  }
  const blockedReason = name.trim() ? null : t('tenants.needName')
  return (
    <Dialog
      title={tenant ? t('tenants.editTitle', { name: tenant.name }) : t('tenants.new')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button variant="primary" busy={busy} showReason blockedReason={blockedReason} onClick={() => void save()}>
            {tenant ? t('tenants.save') : t('tenants.create')}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!blockedReason && !busy) void save()
        }}
      >
        {problem && problem.issues.length === 0 && <Notice tone="bad">{problem.message}</Notice>}
        <TextField
          label={t('tenants.name')}
          autoFocus
          value={name}
          error={issueFor(problem, 'name')}
          hint={tenant ? undefined : t('tenants.nameHint')}
          onChange={(event) => setName(event.target.value)}
        />
        {tenant && (
          <TextField
            label={t('tenants.maxNodes')}
            type="number"
            min={0}
            max={10_000_000}
            optional
            value={maxNodes}
            error={issueFor(problem, 'maxNodes')}
            hint={t('tenants.maxNodesHint', { count: formatNumber(tenant.nodeCount) })}
            onChange={(event) => setMaxNodes(event.target.value)}
          />
        )}
        {tenant && (
          <TextField
            label={t('tenants.maxRuns')}
            type="number"
            min={1}
            max={10_000}
            optional
            value={maxRuns}
            error={issueFor(problem, 'maxConcurrentRuns')}
            hint={t('tenants.maxRunsHint')}
            onChange={(event) => setMaxRuns(event.target.value)}
          />
        )}
      </form>
    </Dialog>
  )
}

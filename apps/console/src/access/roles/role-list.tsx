'use client'
import { Pencil, Plus } from 'lucide-react'
import { useState } from 'react'
import { useQuery } from 'urql'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Failure } from '@/ui/failure.tsx'
import { PageHead } from '@/ui/page.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { roleLabel } from '../roles.ts'
import { useBlockedReason } from '../viewer.tsx'
import { PermissionList } from './permission-list.tsx'
import { RoleDialog } from './role-dialog.tsx'
import { DeleteRole, type Permission, type RoleDetails, RoleDetailsQuery } from './role-documents.ts'

type Open = { kind: 'new' } | { kind: 'edit' | 'delete'; role: RoleDetails } | null

function RoleItem({ role, permissions, onOpen }: { role: RoleDetails; permissions: Permission[]; onOpen: (open: Open) => void }) {
  const { name, description, isBuiltIn } = role
  return (
    <li className="border-b border-line px-4 py-3 text-sm last:border-0">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <div className="min-w-0 flex-1 basis-56">
          <div className="flex flex-wrap items-center gap-2">
            <span className="font-medium break-all">{roleLabel(name)}</span>
            {isBuiltIn && <Badge>{t('roles.builtIn')}</Badge>}
          </div>
          {description && <p className="text-xs break-words text-muted">{description}</p>}
        </div>
        {!isBuiltIn && (
          <div className="flex gap-2">
            <Button
              label={t('roles.editName', { name })}
              icon={<Pencil aria-hidden />}
              blockedReason={role.updateBlockedReason}
              onClick={() => onOpen({ kind: 'edit', role })}
            />
            <Button variant="danger" blockedReason={role.deleteBlockedReason} onClick={() => onOpen({ kind: 'delete', role })}>
              {t('roles.delete')}
            </Button>
          </div>
        )}
      </div>
      <details className="mt-1.5">
        <summary className="w-fit cursor-pointer text-xs text-muted hover:text-text">
          {t('roles.permissions', { count: role.permissions.length })}
        </summary>
        <div className="mt-3">
          <PermissionList permissions={permissions.filter((permission) => role.permissions.includes(permission.name))} />
        </div>
      </details>
    </li>
  )
}

/** Built-in and custom roles; creates, changes and deletes custom ones. */
export function RoleList() {
  const [{ data, error }, reload] = useQuery({ query: RoleDetailsQuery, requestPolicy: 'cache-and-network' })
  const remove = useMutation(DeleteRole)
  const blocked = useBlockedReason('role:write')
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  // Those without a built-in role are for installation administrators.
  const permissions = data?.permissions.filter(({ roles }) => roles.length > 0) ?? []
  return (
    <>
      <PageHead title={t('roles.title')} below={<p className="text-sm text-muted">{t('roles.lead')}</p>}>
        <Button variant="primary" icon={<Plus aria-hidden />} blockedReason={blocked} onClick={() => setOpen({ kind: 'new' })}>
          {t('roles.new')}
        </Button>
      </PageHead>
      {error && !data ? (
        <Failure
          title={t('roles.loadFailed')}
          message={toProblem(error).message}
          onRetry={() => reload({ requestPolicy: 'network-only' })}
        />
      ) : (
        <ul className="rounded-lg border border-line bg-panel">
          {data ? (
            data.roles.map((role) => <RoleItem key={role.name} role={role} permissions={permissions} onOpen={setOpen} />)
          ) : (
            <SkeletonRows rows={4} height={76} />
          )}
        </ul>
      )}
      {(open?.kind === 'new' || open?.kind === 'edit') && (
        <RoleDialog role={open.kind === 'edit' ? open.role : null} permissions={permissions} onClose={close} />
      )}
      {open?.kind === 'delete' && (
        <Confirm
          title={t('roles.deleteTitle', { name: open.role.name })}
          action={t('roles.delete')}
          onClose={close}
          onConfirm={() => remove.run({ name: open.role.name })}
        >
          <p>{t('roles.deleteText')}</p>
        </Confirm>
      )}
    </>
  )
}

import { useState } from 'react'
import { issueFor, issuesWithin, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { PermissionList } from './permission-list.tsx'
import { CreateRole, type Permission, type RoleDetails, UpdateRole } from './role-documents.ts'

/** Creates a custom role, or changes its description and permissions. */
export function RoleDialog({
  role,
  permissions,
  onClose,
}: {
  role: RoleDetails | null
  /** Permissions that roles can include. */
  permissions: Permission[]
  onClose: () => void
}) {
  const create = useMutation(CreateRole)
  const update = useMutation(UpdateRole)
  const { busy, problem } = role ? update : create
  const [name, setName] = useState('')
  const [description, setDescription] = useState(role?.description ?? '')
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set(role?.permissions))
  const blockedReason = role || name.trim() ? null : t('roles.needName')
  const permissionIssues = issuesWithin(problem, 'permissions')
  async function save() {
    const fields = { description, permissions: [...selected] }
    const outcome = role
      ? await update.run({ input: { name: role.name, ...fields } })
      : await create.run({ input: { name, ...fields } })
    if (outcome.ok) onClose()
  }
  return (
    <Dialog
      wide
      title={role ? t('roles.editTitle', { name: role.name }) : t('roles.new')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button variant="primary" busy={busy} showReason blockedReason={blockedReason} onClick={() => void save()}>
            {t(role ? 'roles.save' : 'roles.create')}
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
        {permissionIssues && <Notice tone="bad">{permissionIssues}</Notice>}
        <div className="grid gap-4 sm:grid-cols-2">
          {!role && (
            <TextField
              label={t('roles.name')}
              autoFocus
              mono
              autoComplete="off"
              value={name}
              error={issueFor(problem, 'name')}
              hint={t('roles.nameHint')}
              onChange={(event) => setName(event.target.value)}
            />
          )}
          <TextField
            className={role ? 'sm:col-span-2' : undefined}
            label={t('roles.description')}
            optional
            value={description}
            error={issueFor(problem, 'description')}
            onChange={(event) => setDescription(event.target.value)}
          />
        </div>
        <fieldset>
          <legend className="mb-2 text-sm font-medium">{t('roles.permissionsOf')}</legend>
          <PermissionList permissions={permissions} selection={{ selected, onChange: setSelected }} />
        </fieldset>
      </form>
    </Dialog>
  )
}

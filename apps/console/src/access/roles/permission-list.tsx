import { useId } from 'react'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import type { Permission } from './role-documents.ts'

type Selection = { selected: ReadonlySet<string>; onChange: (selected: Set<string>) => void }

/** Permissions grouped by object. With `selection` each has a checkbox, disabled if the signed-in user lacks the permission. */
export function PermissionList({ permissions, selection }: { permissions: Permission[]; selection?: Selection }) {
  const objects = [...new Set(permissions.map(objectOf))]
  return (
    <div className="flex flex-col gap-4">
      {objects.map((object) => (
        <div key={object}>
          <h3 className="border-b border-line pb-1 font-mono text-xs font-semibold text-muted">{object}</h3>
          <ul>
            {permissions
              .filter((permission) => objectOf(permission) === object)
              .map((permission) => (
                <PermissionItem key={permission.name} permission={permission} selection={selection} />
              ))}
          </ul>
        </div>
      ))}
    </div>
  )
}

const objectOf = ({ name }: Permission) => name.split(':')[0] ?? name

function PermissionItem({
  permission: { name, description, isPerNode, isPerCluster, blockedReason },
  selection,
}: {
  permission: Permission
  selection: Selection | undefined
}) {
  const id = useId()
  function toggle(isSelected: boolean) {
    const selected = new Set(selection?.selected)
    if (isSelected) selected.add(name)
    else selected.delete(name)
    selection?.onChange(selected)
  }
  return (
    <li className="flex items-start gap-2.5 border-b border-line py-2 last:border-0">
      {selection && (
        <input
          type="checkbox"
          id={id}
          aria-describedby={`${id}-note`}
          checked={selection.selected.has(name)}
          disabled={blockedReason !== null}
          onChange={({ target }) => toggle(target.checked)}
          className="mt-0.5 size-4 shrink-0 accent-accent"
        />
      )}
      <div className="min-w-0">
        <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
          {selection ? (
            <label htmlFor={id} className="font-mono text-xs font-medium break-all">
              {name}
            </label>
          ) : (
            <span className="font-mono text-xs font-medium break-all">{name}</span>
          )}
          {isPerNode && <Badge tone="accent">{t('roles.perNode')}</Badge>}
          {isPerCluster && <Badge tone="accent">{t('roles.perCluster')}</Badge>}
        </div>
        <p id={`${id}-note`} className="mt-0.5 text-xs text-muted">
          {description}
          {selection && blockedReason && <span className="block text-warn">{blockedReason}</span>}
        </p>
      </div>
    </li>
  )
}

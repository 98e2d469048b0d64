'use client'
import { RoleList } from '@/access/roles/role-list.tsx'
import { t } from '@/messages/index.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'

/** Roles of the tenant. */
export default function RolesPage() {
  useTitle(t('roles.title'))
  return <RoleList />
}

'use client'
import { GrantList } from '@/access/grants/grant-list.tsx'
import { t } from '@/messages/index.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'

/** Grants of the members of the tenant. */
export default function GrantsPage() {
  useTitle(t('grants.title'))
  return <GrantList />
}

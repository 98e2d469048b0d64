import type { RoleUrls } from '@muster/core/role-urls'
import { migrationState } from './postgres/migration-state.ts'

/** Migrates the database when needed, and backs it up before that when an older version created it. A failed backup prevents the migration. */
export async function prepareDatabase(
  url: string,
  roles: RoleUrls,
  { backUp, migrate, folder }: { backUp: () => Promise<unknown>; migrate: () => Promise<unknown>; folder?: string },
): Promise<void> {
  const state = await migrationState(url, roles, folder)
  if (state === 'current') return
  if (state === 'upgrade') await backUp()
  await migrate()
}

import { sql } from 'drizzle-orm'
import { check, index, snakeCase, text, uuid } from 'drizzle-orm/pg-core'
import { members, tenants, userRef } from '../access/tables.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { nodeGroups } from '../groups/tables.ts'
import { createdAt, id } from '../kernel/db/columns.ts'

/**
 * A member has those permissions of a role that concern nodes, for the nodes of a group, restricted to job templates and credentials
 * when these are not null; an ID that no longer exists matches nothing. Or those that concern Slurm clusters, for a cluster, restricted to
 * partitions when these are not null.
 */
export const grants = snakeCase.table(
  'grants',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    memberId: uuid()
      .notNull()
      .references(() => members.id, { onDelete: 'cascade' }),
    /** Name of a built-in or custom role. */
    role: text().notNull(),
    groupId: uuid().references(() => nodeGroups.id, { onDelete: 'cascade' }),
    templateIds: uuid().array(),
    credentialIds: uuid().array(),
    clusterId: uuid().references(() => slurmClusters.id, { onDelete: 'cascade' }),
    /** Names of partitions. */
    partitions: text().array(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [
    index().on(t.tenantId),
    index().on(t.memberId),
    index().on(t.groupId),
    index().on(t.clusterId),
    check('grants_one_scope', sql`num_nonnulls(${t.groupId}, ${t.clusterId}) = 1`),
  ],
)

export type GrantRow = typeof grants.$inferSelect

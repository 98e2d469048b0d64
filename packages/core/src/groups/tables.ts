import { boolean, index, integer, primaryKey, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import { createdAt, id, updatedAt } from '../db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

export const nodeGroups = snakeCase.table(
  'node_groups',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    name: text().notNull(),
    displayName: text(),
    description: text().notNull().default(''),
    /** Among a node's groups the lower number wins. */
    priority: integer().notNull().default(100),
    isSystem: boolean().notNull().default(false),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name)],
)

export type NodeGroup = typeof nodeGroups.$inferSelect

export const nodeGroupMembers = snakeCase.table(
  'node_group_members',
  {
    groupId: uuid()
      .notNull()
      .references(() => nodeGroups.id, { onDelete: 'cascade' }),
    nodeId: uuid()
      .notNull()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.groupId, t.nodeId] }), index().on(t.nodeId)],
)

import { sql } from 'drizzle-orm'
import {
  type AnyPgColumn,
  boolean,
  check,
  foreignKey,
  index,
  integer,
  primaryKey,
  snakeCase,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import { createdAt, id, updatedAt } from '../kernel/db/columns.ts'
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
    /** The group above: its members are all of this group's too, and this group's variables win over its. */
    parentId: uuid().references((): AnyPgColumn => nodeGroups.id),
    /** Which nodes are members, in the query language of nodes; null: those in node_group_members. */
    memberQuery: text(),
    /** Of all groups with one name of a set, a node is in one at most; empty: no set. */
    exclusiveSet: text().notNull().default(''),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [
    unique().on(t.tenantId, t.name),
    index().on(t.parentId),
    // What members refer to, so that a group's set cannot differ from its members'.
    unique().on(t.id, t.exclusiveSet),
    check('node_groups_query_without_set', sql`${t.memberQuery} is null or ${t.exclusiveSet} = ''`),
  ],
)

export type NodeGroup = typeof nodeGroups.$inferSelect

/** The index that keeps a node in one group of a set at most. */
export const ONE_OF_A_SET = 'node_group_members_one_of_a_set'

/** Who was put into which group by hand. Who is in by a query or through a group below is worked out: see nodes/group-tree.ts. */
export const nodeGroupMembers = snakeCase.table(
  'node_group_members',
  {
    groupId: uuid().notNull(),
    nodeId: uuid()
      .notNull()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    /** The group's own, kept equal by the foreign key: two groups of one set cannot both have a node. */
    exclusiveSet: text().notNull().default(''),
    createdAt: createdAt(),
  },
  (t) => [
    primaryKey({ columns: [t.groupId, t.nodeId] }),
    index().on(t.nodeId),
    foreignKey({
      name: 'node_group_members_group',
      columns: [t.groupId, t.exclusiveSet],
      foreignColumns: [nodeGroups.id, nodeGroups.exclusiveSet],
    })
      .onDelete('cascade')
      .onUpdate('cascade'),
    uniqueIndex(ONE_OF_A_SET).on(t.nodeId, t.exclusiveSet).where(sql`${t.exclusiveSet} <> ''`),
  ],
)

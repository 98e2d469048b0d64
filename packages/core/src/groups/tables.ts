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

/** What a group stands for; the kind changes nothing else. A project is a set of nodes of one project or customer. */
export const GROUP_KINDS = ['AD_HOC', 'PROJECT', 'PARTITION', 'JOB'] as const
export type GroupKind = (typeof GROUP_KINDS)[number]

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
    kind: text().$type<GroupKind>().notNull().default('AD_HOC'),
    /** Among a node's groups, the lower number wins. */
    priority: integer().notNull().default(100),
    isSystem: boolean().notNull().default(false),
    /** The parent group. It contains all members of this group; this group's variables override its variables. */
    parentId: uuid().references((): AnyPgColumn => nodeGroups.id),
    /** Query that selects the members; null: the members are in node_group_members. */
    memberQuery: text(),
    /** Name of an exclusive set. A node is in at most one group of a set. Empty: no set. */
    exclusiveSet: text().notNull().default(''),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [
    unique().on(t.tenantId, t.name),
    index().on(t.parentId),
    // Target of the foreign key, which keeps the set of members equal to that of their group.
    unique().on(t.id, t.exclusiveSet),
    check('node_groups_query_without_set', sql`${t.memberQuery} is null or ${t.exclusiveSet} = ''`),
  ],
)

export type NodeGroup = typeof nodeGroups.$inferSelect

/** The index that limits a node to one group of a set. */
export const ONE_OF_A_SET = 'node_group_members_one_of_a_set'

/** Explicit members of groups. Members by query or through child groups are computed: see groups/group-tree.ts. */
export const nodeGroupMembers = snakeCase.table(
  'node_group_members',
  {
    groupId: uuid().notNull(),
    nodeId: uuid()
      .notNull()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    /** Copy of the group's set, kept equal by the foreign key, so that a unique index enforces one group per set. */
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

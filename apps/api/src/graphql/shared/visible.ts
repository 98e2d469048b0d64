import { visibleTo } from '@muster/core/db'
import type { Ctx } from '@muster/core/registry'
import { schema } from '@muster/core/registry'
import { and, eq } from 'drizzle-orm'
import type { TypeName } from './ids.ts'

const TABLES = {
  ComputeNode: schema.computeNodes,
  Accelerator: schema.accelerators,
  Credential: schema.credentials,
  SecretStore: schema.secretStores,
  Discovery: schema.discoveries,
  ConnectionTest: schema.connectionTests,
  NodeGroup: schema.nodeGroups,
  VariableScope: schema.variableScopes,
  JobTemplate: schema.jobTemplates,
  PlaybookBundle: schema.playbookBundles,
  JobRun: schema.jobRuns,
  JobArtifact: schema.jobArtifacts,
  ApiToken: schema.apiTokens,
  AgentKey: schema.agentKeys,
  AgentEnrollmentToken: schema.agentEnrollmentTokens,
  Alert: schema.alerts,
  AlertSilence: schema.alertSilences,
  AlertRoute: schema.alertRoutes,
  AlertDelivery: schema.alertDeliveries,
} as const satisfies Record<TypeName, unknown>

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Whether the object is of the caller's tenant. Loaders go by the id alone, so this is asked before they are. */
export async function isVisible(ctx: Ctx, { typename, id }: { typename: string; id: string }): Promise<boolean> {
  if (!Object.hasOwn(TABLES, typename) || !UUID.test(id)) return false
  if (typename === 'ApiToken' && ctx.actor.kind !== 'system' && 'role' in ctx.actor && ctx.actor.role === 'viewer') return false
  const table = TABLES[typename as TypeName]
  return (await ctx.db.$count(table, and(visibleTo(ctx, table), eq(table.id, id)))) > 0
}

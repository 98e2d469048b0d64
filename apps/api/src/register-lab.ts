import { SYSTEM, tenantCtx } from '@muster/core/context'
import { createCredential, updateCredential } from '@muster/core/credentials'
import { Conflict } from '@muster/core/errors'
import { updateNode } from '@muster/core/nodes'
import type { Ctx, Runtime } from '@muster/core/registry'
import { schema } from '@muster/core/registry'
import type { LabDescription } from '@muster/lab'
import { and, arrayContains, eq, inArray, isNull } from 'drizzle-orm'
import { LAB_CREDENTIALS, LAB_TAG, readLab } from './lab.ts'
import { bmcCredential, writeMachineFiles } from './register-lab-machines.ts'
import { openRuntime } from './runtime.ts'

const { computeNodes, credentials, tenants } = schema

/**
 * Creates or updates the credentials of lab nodes in the first tenant, and updates the addresses of lab nodes that were added before:
 * a restarted lab has new keys and addresses. Host keys must be approved again.
 * @returns number of lab nodes that are not added yet
 */
export async function registerLab(runtime: Runtime, lab: LabDescription): Promise<number> {
  const [tenant] = await runtime.db.select().from(tenants).orderBy(tenants.id).limit(1)
  if (!tenant) throw new Error('There is no tenant yet. Run first-start.ts before register-lab.ts.')
  const ctx: Ctx = tenantCtx(runtime, tenant.id, SYSTEM)
  const { sshKey, sshPassword, bastionKey, sudoPassword } = lab.credentials
  const wanted: Omit<Parameters<typeof createCredential>[1], 'description'>[] = [
    { name: LAB_CREDENTIALS.key, kind: 'SSH_KEY', username: sshKey.username, privateKey: sshKey.privateKey },
    ...(sshPassword ? [{ name: LAB_CREDENTIALS.password, kind: 'SSH_PASSWORD' as const, ...sshPassword }] : []),
    ...(lab.bastion && bastionKey
      ? [
          {
            name: LAB_CREDENTIALS.bastion,
            kind: 'BASTION' as const,
            host: lab.bastion.host,
            port: lab.bastion.port,
            username: bastionKey.username,
            privateKey: bastionKey.privateKey,
          },
        ]
      : []),
    ...(sudoPassword ? [{ name: LAB_CREDENTIALS.sudo, kind: 'BECOME' as const, password: sudoPassword.password }] : []),
    ...(lab.boot ? [bmcCredential(lab.boot)] : []),
  ]
  const existing = await ctx.db
    .select({ id: credentials.id, name: credentials.name })
    .from(credentials)
    .where(
      and(
        eq(credentials.tenantId, tenant.id),
        inArray(
          credentials.name,
          wanted.map(({ name }) => name),
        ),
      ),
    )
  for (const { kind, ...credential } of wanted) {
    const { id } = existing.find(({ name }) => name === credential.name) ?? {}
    try {
      if (id) await updateCredential(ctx, { id, ...credential })
      else await createCredential(ctx, { description: 'Created for the lab.', kind, ...credential })
    } catch (error) {
      // Another process created it at the same time.
      if (!(error instanceof Conflict)) throw error
    }
  }
  const nodes = await ctx.db
    .select({ id: computeNodes.id, name: computeNodes.name, host: computeNodes.host, port: computeNodes.port })
    .from(computeNodes)
    .where(
      and(
        eq(computeNodes.tenantId, tenant.id),
        arrayContains(computeNodes.tags, [LAB_TAG]),
        isNull(computeNodes.decommissionedAt),
      ),
    )
  for (const node of nodes) {
    const labNode = lab.nodes.find(({ name }) => name === node.name)
    if (labNode && (labNode.host !== node.host || labNode.port !== node.port))
      await updateNode(ctx, { id: node.id, host: labNode.host, port: labNode.port })
  }
  const names = lab.nodes.map(({ name }) => name)
  const added = and(eq(computeNodes.tenantId, tenant.id), inArray(computeNodes.name, names))
  return names.length - (await ctx.db.$count(computeNodes, added))
}

if (import.meta.main) {
  const lab = await readLab(process.env.MUSTER_LAB_FILE)
  if (!lab) {
    console.error(
      'MUSTER_LAB_FILE does not name a lab description. Start a lab with `npm start -- --lab`, or `npm run lab -- up --foreground`.',
    )
    process.exit(2)
  }
  const { runtime, close } = await openRuntime(process.env, 'register-lab')
  try {
    const nodesToAdd = await registerLab(runtime, lab)
    const machines = lab.boot && (await writeMachineFiles(runtime, lab, process.env))
    console.log(JSON.stringify({ nodesToAdd, ...(machines ? { machines } : {}) }))
  } finally {
    await close()
  }
}

import type { Ctx, Runtime } from '@muster/core/context'
import { createCredential } from '@muster/core/credentials'
import { schema } from '@muster/core/db'
import { Conflict } from '@muster/core/errors'
import type { LabDescription } from '@muster/lab'
import { and, eq, inArray } from 'drizzle-orm'
import { LAB_CREDENTIALS, readLab } from './lab.ts'
import { openRuntime } from './runtime.ts'

const { credentials, tenants } = schema

/** Make the credentials with which the lab's nodes are reached, those that do not exist yet, in the first tenant. */
export async function offerLab(runtime: Runtime, lab: LabDescription): Promise<void> {
  const [tenant] = await runtime.db.select().from(tenants).orderBy(tenants.id).limit(1)
  if (!tenant) throw new Error('There is no tenant yet: run first-start before offering the lab.')
  const ctx: Ctx = { ...runtime, actor: { kind: 'system', id: null, name: 'Muster' }, tenantId: tenant.id }
  const { sshKey, sshPassword, bastionKey, sudoPassword } = lab.credentials
  const wanted: Parameters<typeof createCredential>[1][] = [
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
  ]
  const stale = await ctx.db
    .select({ name: credentials.name })
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
  for (const credential of wanted) {
    if (stale.some(({ name }) => name === credential.name)) continue
    try {
      await createCredential(ctx, { description: 'Made for the lab.', ...credential })
    } catch (error) {
      // Another start was faster.
      if (!(error instanceof Conflict)) throw error
    }
  }
}

if (import.meta.main) {
  const lab = await readLab(process.env.MUSTER_LAB_FILE)
  if (!lab) {
    console.error('MUSTER_LAB_FILE names no file with a lab in it; start one with --lab, or `lab up --foreground`.')
    process.exit(2)
  }
  const { runtime, close } = await openRuntime(process.env, 'offer-lab')
  try {
    await offerLab(runtime, lab)
  } finally {
    await close()
  }
}

import { accessSettings, addMember, appointInstallationAdmin, createTenant } from '@muster/core/access'
import { loadConfig, pickSettings } from '@muster/core/config'
import { SYSTEM, systemCtx, tenantCtx } from '@muster/core/context'
import { Conflict } from '@muster/core/errors'
import { reasonOf } from '@muster/core/log'
import type { Ctx, Runtime } from '@muster/core/registry'
import { schema } from '@muster/core/registry'
import { updateBuiltInTemplates } from '@muster/core/templates'
import { eq } from 'drizzle-orm'
import { secretLink } from './mail/mails.ts'
import { openRuntime } from './runtime.ts'
import { type Auth, createAuth } from './sign-in/auth.ts'

const { members, tenants, users } = schema

export type FirstStart = { created: boolean; email: string; signInLink: string | null }

/**
 * Creates the first tenant and its owner if missing, and updates the built-in templates of all tenants. `signInLink` is a new
 * single-use link, valid for 24 hours, while the owner has no way to sign in; null otherwise.
 */
export async function firstStart(
  { runtime, auth }: { runtime: Runtime; auth: Auth },
  { tenantName, email, publicUrl }: { tenantName: string; email: string; publicUrl: string },
): Promise<FirstStart> {
  const existing = await findOwner(runtime)
  const owner = existing ?? (await createOwner(runtime, auth, tenantName, email))
  await updateBuiltInTemplates(systemCtx(runtime))
  const { canSignIn } = await auth.ensureUser(owner.email, owner.name)
  const createLink = async () => secretLink(publicUrl, '/sign-in', await auth.createSignInToken(owner.email))
  return { created: !existing, email: owner.email, signInLink: canSignIn ? null : await createLink() }
}

type Owner = { email: string; name: string }

async function findOwner({ db }: Runtime): Promise<Owner | null> {
  const [owner] = await db
    .select({ email: users.email, name: users.name })
    .from(members)
    .innerJoin(users, eq(users.id, members.userId))
    .where(eq(members.role, 'owner'))
    .orderBy(members.createdAt, members.userId)
    .limit(1)
  return owner ?? null
}

async function createOwner(runtime: Runtime, auth: Auth, tenantName: string, email: string): Promise<Owner> {
  const tenant =
    (await firstTenant(runtime)) ??
    (await createTenant(systemCtx(runtime), { name: tenantName }).catch(ignoreConflict)) ??
    (await firstTenant(runtime))
  const user = await auth.ensureUser(email, 'Owner')
  const ctx: Ctx = tenantCtx(runtime, tenant!.id, SYSTEM)
  await addMember(ctx, { userId: user.id, role: 'owner' }).catch(ignoreConflict)
  await appointInstallationAdmin(ctx, { email }).catch(ignoreConflict)
  return { email: email.toLowerCase(), name: 'Owner' }
}

async function firstTenant({ db }: Runtime) {
  const [tenant] = await db.select().from(tenants).orderBy(tenants.id).limit(1)
  return tenant
}

/** Ignores conflicts: another process created the row at the same time. */
function ignoreConflict(error: unknown): undefined {
  if (!(error instanceof Conflict)) throw error
}

// `node apps/api/src/first-start.ts` prints a FirstStart as one line of JSON to stdout, and errors to stderr.
if (import.meta.main) {
  try {
    const { MUSTER_OWNER_EMAIL, MUSTER_TENANT_NAME } = loadConfig(
      process.env,
      pickSettings(accessSettings, 'MUSTER_OWNER_EMAIL', 'MUSTER_TENANT_NAME'),
    )
    const { runtime, publicUrl, authSecret, close } = await openRuntime({ ...process.env, LOG_LEVEL: 'silent' }, 'first-start')
    const auth = createAuth({ db: runtime.db, secret: authSecret, publicUrl, log: runtime.log })
    const result = await firstStart({ runtime, auth }, { tenantName: MUSTER_TENANT_NAME, email: MUSTER_OWNER_EMAIL, publicUrl })
    process.stdout.write(`${JSON.stringify(result)}\n`)
    await close()
    process.exit(0)
  } catch (error) {
    process.stderr.write(`The first start failed. ${reasonOf(error)}\n`)
    process.exit(1)
  }
}

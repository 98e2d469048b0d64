import { recordSignIn, sessionAudit } from '@muster/core/access'
import { type AuditAction, outcomeOf, recordAttempt } from '@muster/core/audit'
import type { Attempt } from '@muster/core/context'
import { SecondFactorRequired } from '@muster/core/errors'
import type { ApiContext } from '../../context.ts'
import type { Caller, SignedIn } from '../../sign-in/caller.ts'
import { parseId } from './ids.ts'

const SUCCEEDED = { outcome: 'succeeded' } as const

/** `cancelJobRun` -> `job_run.cancel`. */
export function actionOf(mutation: string): AuditAction {
  const [verb, ...object] = mutation.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).split(' ')
  return { name: `${object.join('_')}.${verb}` }
}

/**
 * Runs a mutation so that it leaves a row in the audit log. Verbs write the row of a change in its transaction. This writes the row
 * of a mutation that failed or was denied, and of one whose verb writes none, such as a sign-in.
 * @param input its `id` and `email`, if any, name the object
 * @param isStep see `MutationOptions`
 */
export async function audited<T>(
  action: AuditAction,
  input: object | undefined,
  context: ApiContext,
  work: (context: ApiContext) => Promise<T> | T,
  isStep = false,
): Promise<T> {
  const attempt: Attempt = {}
  const { caller } = context
  const own = { ...context, attempt, ctx: caller ? { ...context.ctx, attempt } : context.ctx }
  try {
    const result = await work(own)
    const { viewer: signedIn, sessionToken } = (result ?? {}) as Partial<SignedIn>
    const newSession = sessionToken && sessionToken !== caller?.sessionToken ? sessionToken : null
    // Lets the payload of a sign-in read the viewer's tenant.
    context.signedInTenantId = signedIn?.tenantId
    const viewer = (newSession ? signedIn : caller) ?? signedIn ?? null
    // A public form that names a user, such as a request to reset a password, concerns the tenants of that user.
    if (!attempt.isRecorded && (viewer || !isStep)) await record(viewer, SUCCEEDED, undefined, newSession)
    // The verb recorded something else, such as an accepted invitation.
    else if (newSession && signedIn && signedIn.actor.id !== caller?.actor.id)
      await record(signedIn, SUCCEEDED, sessionAudit.create, newSession)
    return result
  } catch (error) {
    const isFirstStep = error instanceof SecondFactorRequired
    await record(caller, isFirstStep ? SUCCEEDED : outcomeOf(error), ...(isFirstStep ? [sessionAudit.challenge] : [])).catch(
      (err) => context.deps.runtime.log.error({ err, action: action.name }, 'cannot record a failed action in the audit log'),
    )
    throw error
  }

  async function record(
    by: Caller | null,
    outcome: { outcome: 'succeeded' | 'denied' | 'failed'; error?: string },
    performed = attempt.action ?? action,
    newSession: string | null = null,
  ) {
    const { requestId, origin, deps } = context
    const fields = (input ?? {}) as Record<string, unknown>
    const given = typeof fields.email === 'string' ? fields.email.trim().toLowerCase().slice(0, 320) : null
    const email =
      given ??
      (by
        ? null
        : (attempt.userEmail ??
          (await deps.auth.emailOfPasskey(fields.response)) ??
          (await deps.auth.emailOfChallenge(fields.challenge))))
    const userName = typeof fields.userName === 'string' ? fields.userName.trim().slice(0, 320) : null
    const object = typeof fields.id === 'string' ? parseId(fields.id) : null
    const reason = [fields.reason, fields.note].find((text) => typeof text === 'string' && text !== '')
    const tenants = by ? [by.tenantId] : email ? await deps.auth.tenantsOf(email) : []
    const entry = {
      action: performed,
      ...outcome,
      objectId: object?.id ?? null,
      objectName: by ? null : (email ?? userName),
      reason: typeof reason === 'string' ? reason.slice(0, 1000) : null,
    }
    const actor = by?.actor ?? { kind: 'anonymous' as const, id: null, name: 'not signed in' }
    const session = by && { ...origin, sessionId: by.sessionId ?? origin.sessionId }
    // A failed sign-in concerns the tenants of the user, or the installation when there is no such user.
    for (const tenantId of tenants.length > 0 ? tenants : [null]) {
      const subject = { ...deps.runtime, actor, tenantId, origin: session ?? origin, attempt, requestId }
      if (!newSession) await recordAttempt(subject, entry)
      else
        await recordSignIn(subject, newSession, entry).catch(async (error: unknown) => {
          await deps.auth.discardSession(context, newSession)
          throw error
        })
    }
  }
}

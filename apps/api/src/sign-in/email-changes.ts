import { confirmEmailChange, requestEmailChange } from '@muster/core/access'
import { InvalidInput, Unavailable } from '@muster/core/errors'
import type { RequestFacts } from '../http/request-facts.ts'
import { emailChangedMail, emailChangeMail, secretLink } from '../mail/mails.ts'
import type { Caller, CallerContext } from './caller.ts'
import type { SignInParts } from './parts.ts'

type Context = RequestFacts & CallerContext

/** Changes of the user's email address, which take effect with a link that is sent to the new one. */
export function createEmailChanges(parts: SignInParts) {
  const { mailer, publicUrl, log, callers, throttle, addressOf, checkCurrentPassword } = parts
  const blockedReason = mailer
    ? null
    : 'This installation sends no email. Ask an administrator to run bin/muster-admin change-email on the server.'

  function sessionOf({ caller }: Context): Caller & { sessionToken: string } {
    if (!caller?.sessionToken)
      throw new InvalidInput([{ path: '', message: 'an API token has no email address; sign in as a user' }])
    return caller as Caller & { sessionToken: string }
  }

  return {
    changeEmailBlockedReason: blockedReason,

    /** Sends a link to the new address. @returns the address @throws InvalidInput, StepUpRequired, Unavailable */
    async requestEmailChange(context: Context, input: { email: string; currentPassword?: string | null }): Promise<string> {
      const caller = sessionOf(context)
      if (!mailer) throw new Unavailable(blockedReason!)
      await throttle.attempt('email', addressOf(context), caller.actor.id)
      await checkCurrentPassword(context, caller, input.currentPassword)
      const { ctx } = context
      const { user, email, token } = await requestEmailChange({ ...ctx, db: ctx.systemDb }, { email: input.email })
      const link = secretLink(publicUrl, '/confirm-email', token)
      await mailer.send(emailChangeMail({ name: user.name, before: user.email, email, link }))
      return email
    },

    /** Completes the change with the token of the link. @throws NotFound, Conflict, Unavailable */
    async confirmEmailChange(context: Context, token: string): Promise<Caller> {
      const caller = sessionOf(context)
      await throttle.attempt('email-confirm', addressOf(context), caller.actor.id)
      const { ctx } = context
      const { before, email } = await confirmEmailChange({ ...ctx, db: ctx.systemDb }, { token })
      await throttle.succeeded('email-confirm', caller.actor.id)
      callers.clearCache()
      // The change has taken effect, so a failed notification does not fail it.
      void mailer
        ?.send(emailChangedMail({ before, email }))
        .catch((error: Error) => log.error({ reason: error.message }, 'the notification of a changed email address was not sent'))
      return (await callers.read(caller.sessionToken, context.headers)) ?? caller
    },
  }
}

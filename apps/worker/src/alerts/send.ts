import type { ClaimedDelivery, DeliveryOutcome } from '@muster/core/alerts'
import type { Ctx } from '@muster/core/context'
import { openRouteSecrets } from '@muster/core/credentials/access'
import { DomainError } from '@muster/core/errors'
import { sendMail } from './email.ts'
import { NotSent } from './failure.ts'
import { checkAnswer, hookRequest } from './hooks.ts'
import { type Limits, post } from './post.ts'

/** One attempt to send a message on its route, and how it went. */
export async function send(
  ctx: Ctx,
  { route, delivery, tenantName }: ClaimedDelivery,
  { link, ...limits }: Limits & { link: string },
): Promise<DeliveryOutcome> {
  try {
    const { url, secret } = await openRouteSecrets(ctx, route)
    const message = { delivery, tenantName, link }
    if (route.kind === 'email') await sendMail(route.settings, secret, message, limits)
    else {
      const request = hookRequest(route.kind, message, { url: url!, ...(secret ? { secret } : {}) }, new Date())
      checkAnswer(route.kind, request.url.origin, await post(request, limits))
    }
    return null
  } catch (error) {
    if (error instanceof NotSent) {
      const { message, isFinal, retryAfterMs } = error
      return { error: message, isFinal, ...(retryAfterMs ? { retryAfterMs } : {}) }
    }
    if (error instanceof DomainError) return { error: error.message }
    ctx.log.error({ err: error, route: route.name }, 'cannot send alerts')
    return { error: 'Something unforeseen happened; the log of the worker says more.' }
  }
}

import type { ClaimedDelivery, DeliveryOutcome } from '@muster/core/alerts'
import type { Ctx } from '@muster/core/context'
import { decryptRouteSecrets } from '@muster/core/credentials'
import { DomainError } from '@muster/core/errors'
import { TargetError } from '@muster/core/outbound'
import { DeliveryError } from './delivery-error.ts'
import { sendEmail } from './email.ts'
import { type Limits, post } from './post.ts'
import { assertAccepted, webhookRequest } from './webhook-formats.ts'

/** Makes one attempt to deliver a message and returns its outcome; null means delivered. */
export async function send(
  ctx: Ctx,
  { route, delivery, tenantName }: ClaimedDelivery,
  { link, ...limits }: Limits & { link: string },
): Promise<DeliveryOutcome> {
  try {
    const { url, secret } = await decryptRouteSecrets(ctx, route)
    const message = { delivery, tenantName, link }
    if (route.kind === 'email') await sendEmail(route.settings, secret, message, limits)
    else {
      const request = webhookRequest(route.kind, message, { url: url!, ...(secret ? { secret } : {}) }, new Date())
      assertAccepted(route.kind, request.url.origin, await post(request, limits))
    }
    return null
  } catch (error) {
    if (error instanceof DeliveryError) {
      const { message, isFinal, retryAfterMs } = error
      return { error: message, isFinal, ...(retryAfterMs ? { retryAfterMs } : {}) }
    }
    if (error instanceof DomainError || error instanceof TargetError) return { error: error.message }
    ctx.log.error({ err: error, route: route.name }, 'alert delivery failed unexpectedly')
    return { error: 'An unexpected error occurred; see the log of the worker.' }
  }
}

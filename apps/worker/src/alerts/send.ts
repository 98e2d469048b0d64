import type { ClaimedDelivery, DeliveryOutcome } from '@muster/core/alerts'
import type { Ctx } from '@muster/core/context'
import { decryptRouteSecrets } from '@muster/core/credentials'
import { outcomeOf } from '../delivery/outcome.ts'
import { type Limits, post } from '../delivery/post.ts'
import { sendEmail } from './email.ts'
import { assertAccepted, webhookRequest } from './webhook-formats.ts'

/** Makes one attempt to deliver a message and returns its outcome; null means delivered. */
export async function send(
  ctx: Ctx,
  { route, delivery, tenantName }: ClaimedDelivery,
  { link, ...limits }: Limits & { link: string },
): Promise<DeliveryOutcome> {
  return outcomeOf(ctx.log, route.name, async () => {
    const { url, secret } = await decryptRouteSecrets(ctx, route)
    const message = { delivery, tenantName, link }
    if (route.kind === 'email') return sendEmail(route.settings, secret, message, limits)
    const request = webhookRequest(route.kind, message, { url: url!, ...(secret ? { secret } : {}) }, new Date())
    assertAccepted(route.kind, request.url.origin, await post(request, limits))
  })
}

import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const TriggerSignature = builder.enumType('TriggerSignature', {
  description: 'How requests to a trigger are signed, with HMAC-SHA256 and the secret of the trigger.',
  values: upper({
    muster:
      'Headers `X-Muster-Timestamp` (seconds since 1970, at most 5 minutes off) and `X-Muster-Signature` (`sha256=` and hexadecimal digits) over the timestamp, a dot and the body.',
    github: 'Header `X-Hub-Signature-256` over the body, as GitHub, Gitea and others send it. A body starts one run at most.',
  }),
})

export const TriggerDeliveryOutcome = builder.enumType('TriggerDeliveryOutcome', {
  description: 'Result of a request to a trigger.',
  values: same({ STARTED: 'A run was started.', FAILED: 'No run could be started.' }),
})

import { type AttemptEntry, outcomeOf, recordAttempt } from '@muster/core/audit'
import type { Attempt } from '@muster/core/context'
import { type ApiDeps, originOf } from '../context.ts'
import type { Caller } from '../sign-in/caller.ts'
import type { RequestFacts } from './request-facts.ts'

/** What a refused request wanted. `tenantId`: of the object, where the caller is not known; null: concerns the installation. */
type Wanted = Omit<AttemptEntry, 'outcome' | 'error'> & { tenantId?: string | null; attempt?: Attempt }

/** Records a download or export that was denied or failed with `error`. */
export async function recordRefusal(
  { runtime }: Pick<ApiDeps, 'runtime'>,
  facts: RequestFacts,
  caller: Caller | null,
  { tenantId = null, attempt, ...wanted }: Wanted,
  error: unknown,
): Promise<void> {
  await recordAttempt(
    {
      ...runtime,
      actor: caller?.actor ?? { kind: 'anonymous', id: null, name: 'not signed in' },
      tenantId: caller?.tenantId ?? tenantId,
      origin: originOf(facts, caller),
      requestId: facts.requestId,
      attempt,
    },
    { ...wanted, ...outcomeOf(error) },
  ).catch((err) => runtime.log.error({ err, action: wanted.action.name }, 'cannot record a refused download in the audit log'))
}

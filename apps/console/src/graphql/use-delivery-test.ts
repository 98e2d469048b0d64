import { useState } from 'react'
import { t } from '@/messages/index.ts'
import { toast } from '@/ui/toast.tsx'
import type { Outcome } from './use-mutation.ts'

const pollIntervalMs = 1000
const maxPolls = 30

type State = { isPending: boolean; error: string | null }

/** Requests a test delivery, waits until a worker has made it, and reports the outcome. `testing` is the id of its destination. */
export function useDeliveryTest<T extends { id: string; name: string }>(
  start: (target: T) => Promise<Outcome<{ id: string } & State>>,
  read: (id: string) => Promise<State | null>,
) {
  const [testing, setTesting] = useState<string | null>(null)
  async function test(target: T) {
    setTesting(target.id)
    const outcome = await start(target)
    let state: State | null = outcome.ok ? outcome.value : null
    for (let poll = 0; outcome.ok && state?.isPending && poll < maxPolls; poll++) {
      await new Promise((resolve) => setTimeout(resolve, pollIntervalMs))
      state = (await read(outcome.value.id)) ?? state
    }
    setTesting(null)
    if (!outcome.ok) toast('bad', outcome.problem.message)
    else if (state?.isPending) toast('bad', t('routes.testLate', { name: target.name }))
    else if (state?.error) toast('bad', state.error)
    else toast('ok', t('routes.testOk', { name: target.name }))
  }
  return { test, testing }
}

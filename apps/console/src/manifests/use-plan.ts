import { useEffect, useState } from 'react'
import { useClient } from 'urql'
import { type Problem, toProblem, unwrap } from '@/graphql/use-mutation.ts'
import { type ManifestInput, type Plan, PlanManifests } from './documents.ts'

type State = { plan: Plan | null; problem: Problem | null; isPlanning: boolean }
const NOTHING: State = { plan: null, problem: null, isPlanning: false }

/** The plan of the server for the files and options, again after each change of them; nothing is written. */
export function usePlan(input: ManifestInput | null): State {
  const client = useClient()
  const [state, setState] = useState(NOTHING)
  useEffect(() => {
    if (!input) {
      setState(NOTHING)
      return
    }
    let isStale = false
    setState((before) => ({ ...before, isPlanning: true }))
    const timer = setTimeout(async () => {
      const { data, error } = await client.query(PlanManifests, { input }, { requestPolicy: 'network-only' }).toPromise()
      if (isStale) return
      if (!data) return setState({ ...NOTHING, problem: error ? toProblem(error) : null })
      const outcome = unwrap(data)
      setState(outcome.ok ? { ...NOTHING, plan: outcome.value } : { ...NOTHING, problem: outcome.problem })
    }, 350)
    return () => {
      isStale = true
      clearTimeout(timer)
    }
  }, [client, input])
  return state
}

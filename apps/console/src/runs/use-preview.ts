'use client'
import { useEffect, useState } from 'react'
import { useClient } from 'urql'
import { type Problem, problemOf, unwrap } from '@/graphql/use-verb.ts'
import { t } from '@/messages/index.ts'
import { PreviewRun, type RunPreview, type StartInput } from './documents.ts'

type State = { preview: RunPreview | null; problem: Problem | null; isBusy: boolean }
const nothing: State = { preview: null, problem: null, isBusy: false }

/** What a run would be, when it is asked for; forgotten as soon as something else would be started. */
export function usePreview(input: StartInput) {
  const client = useClient()
  const [state, setState] = useState<State>(nothing)
  const key = JSON.stringify(input)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another input, another preview
  useEffect(() => setState(nothing), [key])
  async function ask() {
    setState({ ...nothing, isBusy: true })
    const { data, error } = await client.query(PreviewRun, { input }, { requestPolicy: 'network-only' }).toPromise()
    const outcome = data ? unwrap(data) : null
    setState({
      preview: outcome?.ok ? outcome.value : null,
      problem: outcome?.ok
        ? null
        : (outcome?.problem ?? (error ? problemOf(error) : { message: t('error.unknown'), code: 'UNKNOWN', issues: [] })),
      isBusy: false,
    })
  }
  return { ...state, ask }
}

'use client'
import { useEffect, useState } from 'react'
import { useClient } from 'urql'
import { type Problem, toProblem, unwrap } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { PreviewRun, type RunPreview, type StartInput } from './documents.ts'

type State = { preview: RunPreview | null; problem: Problem | null; isBusy: boolean }
const noPreview: State = { preview: null, problem: null, isBusy: false }

/** A preview of the run on demand; discarded when the input changes. */
export function usePreview(input: StartInput) {
  const client = useClient()
  const [state, setState] = useState<State>(noPreview)
  const key = JSON.stringify(input)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a changed input invalidates the preview
  useEffect(() => setState(noPreview), [key])
  async function load() {
    setState({ ...noPreview, isBusy: true })
    const { data, error } = await client.query(PreviewRun, { input }, { requestPolicy: 'network-only' }).toPromise()
    const outcome = data ? unwrap(data) : null
    setState({
      preview: outcome?.ok ? outcome.value : null,
      problem: outcome?.ok
        ? null
        : (outcome?.problem ?? (error ? toProblem(error) : { message: t('error.unknown'), code: 'UNKNOWN', issues: [] })),
      isBusy: false,
    })
  }
  return { ...state, load }
}

'use client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useClient } from 'urql'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { ApplySnippets, type SnippetPreview, SnippetPreviewQuery } from './documents.ts'

/** What is known of a cluster: its preview, then the version that was created or why it was not. */
export type Progress =
  | { step: 'LOADING' | 'APPLYING' }
  | { step: 'READY'; diff: SnippetPreview['diff']; fingerprint: string }
  | { step: 'DONE'; number: number }
  | { step: 'BLOCKED' | 'FAILED'; message: string }

/** Previews clusters one by one, and applies them one by one: what fails for one does not stop the others. */
export function useApply(ids: readonly string[]) {
  const client = useClient()
  const { run, problem } = useMutation(ApplySnippets)
  const [progress, setProgress] = useState<ReadonlyMap<string, Progress>>(
    () => new Map(ids.map((id) => [id, { step: 'LOADING' }])),
  )
  const isOpen = useRef(true)
  const setStep = useCallback((id: string, one: Progress) => {
    if (isOpen.current) setProgress((all) => new Map(all).set(id, one))
  }, [])
  const preview = useCallback(
    async (some: readonly string[]) => {
      for (const id of some) setStep(id, { step: 'LOADING' })
      for (const id of some) {
        if (!isOpen.current) return
        const { data, error } = await client.query(SnippetPreviewQuery, { id }, { requestPolicy: 'network-only' }).toPromise()
        const found = data?.slurmCluster?.configSnippetPreview
        if (error) setStep(id, { step: 'FAILED', message: toProblem(error).message })
        else if (!found?.fingerprint || found.blockedReason)
          setStep(id, { step: 'BLOCKED', message: found?.blockedReason ?? t('error.unknown') })
        else setStep(id, { step: 'READY', diff: found.diff, fingerprint: found.fingerprint })
      }
    },
    [client, setStep],
  )
  const first = useRef(ids)
  useEffect(() => {
    isOpen.current = true
    void preview(first.current)
    return () => {
      isOpen.current = false
    }
  }, [preview])
  /** Ends after the cluster in progress when the dialog is closed. */
  async function apply(chosen: readonly string[], reason: string) {
    for (const id of chosen) {
      const ready = progress.get(id)
      if (!isOpen.current || ready?.step !== 'READY') continue
      setStep(id, { step: 'APPLYING' })
      const outcome = await run({ input: { clusterId: id, fingerprint: ready.fingerprint, reason } })
      if (outcome.ok) setStep(id, { step: 'DONE', number: outcome.value.slurmConfigVersion.number })
      else setStep(id, { step: 'FAILED', message: outcome.problem.issues[0]?.message ?? outcome.problem.message })
    }
  }
  return { progress, preview, apply, problem }
}

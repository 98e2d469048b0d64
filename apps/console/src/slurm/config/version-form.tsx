'use client'
import { type ReactNode, useState } from 'react'
import type { CombinedError } from 'urql'
import { issueFor, type Problem, toProblem, unwrap, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Failure } from '@/ui/failure.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'
import { usePreview } from '../scale/use-preview.ts'
import { type ConfigPreview, PreviewConfig, type PreviewInput, SaveConfig } from './documents.ts'
import { PlanView } from './plan-view.tsx'

/** Placeholder while the edited version loads, or the load error. */
export const VersionLoading = ({ error, onRetry }: { error: CombinedError | undefined; onRetry: () => void }) =>
  error ? (
    <Failure title={t('slurmConfig.loadFailed')} message={toProblem(error).message} onRetry={onRetry} />
  ) : (
    <Skeleton className="h-96 w-full" />
  )

type Props = {
  clusterId: string
  /** The edited version. */
  number: number
  edit: Pick<PreviewInput, 'files' | 'changes'>
  isChanged: boolean
  /** Also previews the unchanged version. */
  previewsUnchanged?: boolean
  onLine?: (file: string, line: number) => void
  onClose: () => void
  /** The fields of the edit. `preview` and `problem` are null before they are known. */
  children: (preview: ConfigPreview | null, problem: Problem | null) => ReactNode
}

/** Saves an edit as the next version, with a reason. Beside it: what a rollout would do. */
export function VersionForm({ clusterId, number, edit, isChanged, previewsUnchanged = false, onLine, onClose, children }: Props) {
  const save = useMutation(SaveConfig)
  const [reason, setReason] = useState('')
  const input = edit.files ? { clusterId, files: edit.files } : { clusterId, number, changes: edit.changes }
  const { data, error, isLoading } = usePreview(PreviewConfig, input, isChanged || previewsUnchanged)
  const outcome = data && unwrap(data)
  const preview = outcome?.ok ? outcome.value : null
  const problem = error ? toProblem(error) : outcome && !outcome.ok ? outcome.problem : null
  const blockedReason = !isChanged ? t('slurmConfig.needChange') : reason.trim() ? null : t('slurmAction.needReason')
  async function run() {
    if (blockedReason) return
    const saved = await save.run({ input: { clusterId, basedOn: number, ...edit, reason: reason.trim() } })
    if (!saved.ok) return
    toast('ok', t('slurmConfig.saved', { number: String(saved.value.slurmConfigVersion.number) }))
    onClose()
  }
  return (
    <form
      className="grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <div className="flex min-w-0 flex-col gap-4 md:[&_:is(input,select)]:scroll-mb-40">
        {children(preview, problem)}
        <div className="flex flex-col gap-4 md:sticky md:bottom-0 md:z-10 md:border-t md:border-line md:bg-bg md:py-3">
          <TextField
            label={t('slurmAction.reason')}
            maxLength={200}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            error={issueFor(save.problem, 'reason')}
          />
          {save.problem && (
            <Notice tone="bad">
              <p>{save.problem.message}</p>
              {save.problem.issues.map(({ path, message }) => (
                <p key={`${path} ${message}`}>{t('error.within', { name: path, message })}</p>
              ))}
            </Notice>
          )}
          <div className="flex flex-wrap items-center justify-end gap-2">
            <Button onClick={onClose}>{t('common.cancel')}</Button>
            <Button type="submit" variant="primary" busy={save.busy} showReason blockedReason={blockedReason}>
              {t('slurmConfig.save')}
            </Button>
          </div>
        </div>
      </div>
      <div className="lg:sticky lg:top-4 lg:max-h-[calc(100dvh-2rem)] lg:overflow-auto">
        <Panel title={t('slurmConfig.previewTitle')}>
          {problem && (
            <Notice tone="bad">
              <p>{problem.message}</p>
              {problem.issues.map(({ path, message }) => (
                <p key={`${path} ${message}`}>{message}</p>
              ))}
            </Notice>
          )}
          {isLoading ? <Skeleton className="h-48 w-full" /> : preview && <PlanView preview={preview} onLine={onLine} />}
          {!isChanged && !previewsUnchanged && <p className="text-sm text-muted">{t('slurmConfig.needChange')}</p>}
        </Panel>
      </div>
    </form>
  )
}

'use client'
import { useMemo, useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useMutation } from '@/graphql/use-mutation.ts'
import { ApplyManifests, type ManifestFile, type ManifestInput, type Plan } from '@/manifests/documents.ts'
import { FilePicker } from '@/manifests/file-picker.tsx'
import { PlanView } from '@/manifests/plan-view.tsx'
import { usePlan } from '@/manifests/use-plan.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { CheckField, TextField } from '@/ui/field.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead, Panel } from '@/ui/page.tsx'

/** Applies manifests: drop files, review the plan, apply. */
export default function ManifestsPage() {
  useTitle(t('manifest.title'))
  const [files, setFiles] = useState<ManifestFile[]>([])
  const [owner, setOwner] = useState('')
  const [isPruning, setPruning] = useState(false)
  const [isForced, setForced] = useState(false)
  const [applied, setApplied] = useState<Plan | null>(null)
  const [fileProblem, setFileProblem] = useState<string | null>(null)
  const mutation = useMutation(ApplyManifests)
  const prune = isPruning && owner.trim() !== ''
  const input = useMemo<ManifestInput | null>(
    () =>
      files.length === 0 ? null : { files, prune, forceConflicts: isForced, ...(owner.trim() ? { owner: owner.trim() } : {}) },
    [files, owner, prune, isForced],
  )
  const planned = usePlan(applied ? null : input)
  const denied = useBlockedReason('manifest:apply')
  const change =
    <T,>(set: (value: T) => void) =>
    (value: T) => {
      setApplied(null)
      mutation.clear()
      set(value)
    }
  const { plan } = planned
  const blockedReason =
    denied ??
    (!plan || planned.isPlanning
      ? t('manifest.planning')
      : plan.issueCount + plan.conflictCount > 0
        ? t('manifest.blocked')
        : plan.changeCount === 0
          ? t('manifest.nothing')
          : null)
  async function apply() {
    if (!input || !plan) return
    const outcome = await mutation.run({ input: { ...input, fingerprint: plan.fingerprint } })
    if (outcome.ok) setApplied(outcome.value.plan)
  }
  const problem = mutation.problem ?? planned.problem
  const shown = applied ?? plan
  return (
    <div className="flex max-w-4xl flex-col gap-4">
      <PageHead title={t('manifest.title')} below={<p className="text-sm text-muted">{t('manifest.text')}</p>} />
      <FilePicker files={files} onChange={change(setFiles)} onProblem={setFileProblem} />
      {fileProblem && <Notice tone="bad">{fileProblem}</Notice>}
      <Panel>
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={t('manifest.owner')}
            optional
            mono
            value={owner}
            onChange={(event) => change(setOwner)(event.target.value)}
            hint={t('manifest.ownerHint')}
          />
          <div className="flex flex-col justify-center gap-3">
            <CheckField
              label={t('manifest.prune')}
              hint={t('manifest.pruneHint')}
              disabled={owner.trim() === ''}
              checked={prune}
              onChange={(event) => change(setPruning)(event.target.checked)}
            />
            <CheckField
              label={t('manifest.force')}
              hint={t('manifest.forceHint')}
              checked={isForced}
              onChange={(event) => change(setForced)(event.target.checked)}
            />
          </div>
        </div>
      </Panel>
      {problem && (
        <Notice tone="bad">
          <p>{problem.message}</p>
        </Notice>
      )}
      {applied?.isApplied && <Notice title={t('manifest.applied')} />}
      {shown && <PlanView plan={shown} />}
      {planned.isPlanning && !plan && <p className="text-sm text-muted">{t('manifest.planning')}</p>}
      {input && !applied && (
        <div className="flex justify-end">
          <Button variant="primary" busy={mutation.busy} blockedReason={blockedReason} showReason onClick={() => void apply()}>
            {t('manifest.apply')}
          </Button>
        </div>
      )}
    </div>
  )
}

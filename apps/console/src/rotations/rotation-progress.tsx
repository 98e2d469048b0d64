'use client'
import Link from 'next/link'
import { useState } from 'react'
import { useLive } from '@/graphql/use-live.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { Badge, type Tone } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import {
  CancelCredentialRotation,
  CompleteCredentialRotation,
  CredentialRotationUpdated,
  ResumeCredentialRotation,
  type RotationProgress,
} from './documents.ts'

const TONES: Record<RotationProgress['status'], Tone> = {
  RUNNING: 'accent',
  CANCELING: 'accent',
  PAUSED: 'warn',
  SUCCEEDED: 'ok',
  PARTIAL: 'warn',
  CANCELED: 'neutral',
}

/** Live progress of a rotation, its failed nodes, and what the user can do about them. */
export function RotationProgressView({ id, onClose }: { id: string; onClose: () => void }) {
  const [rotation, setRotation] = useState<RotationProgress | null>(null)
  useLive(CredentialRotationUpdated, { id }, (data) => setRotation(data.credentialRotationUpdated))
  if (!rotation) return <Skeleton className="h-32 w-full" />
  const { status, nodeCount, installedCount, failedCount, leftCredential } = rotation
  const failed = rotation.hosts.edges
  return (
    <div className="flex flex-col gap-4 text-sm">
      <div className="flex flex-wrap items-center gap-3">
        <Badge tone={TONES[status]}>{t(`rotation.status.${status}`)}</Badge>
        <span>{t('rotation.progress', { installed: formatNumber(installedCount), count: nodeCount })}</span>
        {failedCount > 0 && <span className="text-bad">{t('rotation.failed', { count: failedCount })}</span>}
      </div>
      <progress
        className="h-2 w-full appearance-none overflow-hidden rounded-full [&::-moz-progress-bar]:bg-accent [&::-webkit-progress-bar]:bg-sunken [&::-webkit-progress-value]:bg-accent"
        aria-label={t('rotation.progress', { installed: formatNumber(installedCount), count: nodeCount })}
        max={Math.max(nodeCount, 1)}
        value={installedCount}
      />
      {status === 'PAUSED' && <Notice tone="warn">{t('rotation.pausedText')}</Notice>}
      {status === 'PARTIAL' && (
        <Notice tone="warn">
          {leftCredential ? t('rotation.leftText', { name: leftCredential.name }) : t('rotation.keptText')}
        </Notice>
      )}
      {failed.length > 0 && (
        <ul className="max-h-64 overflow-auto rounded-md border border-line">
          {failed.map(({ node: { node, error } }) => (
            <li key={node.id} className="border-b border-line px-3 py-2 last:border-0">
              <Link className="font-medium hover:underline" href={`/nodes/${node.id}`}>
                {node.name}
              </Link>
              <p className="text-xs break-words text-muted">{error}</p>
            </li>
          ))}
          {failedCount > failed.length && (
            <li className="px-3 py-2 text-xs text-muted">{t('rotation.more', { count: failedCount - failed.length })}</li>
          )}
        </ul>
      )}
      <Decisions rotation={rotation} onClose={onClose} />
    </div>
  )
}

function Decisions({ rotation, onClose }: { rotation: RotationProgress; onClose: () => void }) {
  const resume = useMutation(ResumeCredentialRotation)
  const complete = useMutation(CompleteCredentialRotation)
  const cancel = useMutation(CancelCredentialRotation)
  const { id } = rotation
  const problem = resume.problem ?? complete.problem ?? cancel.problem
  if (rotation.finishedAt)
    return (
      <div className="flex justify-end">
        <Button variant="primary" onClick={onClose}>
          {t('common.close')}
        </Button>
      </div>
    )
  return (
    <>
      {problem && <Notice tone="bad">{problem.message}</Notice>}
      <div className="flex flex-wrap justify-end gap-2">
        <Button busy={cancel.busy} blockedReason={rotation.cancelBlockedReason} onClick={() => void cancel.run({ id })}>
          {t('rotation.cancel')}
        </Button>
        <Button busy={complete.busy} blockedReason={rotation.completeBlockedReason} onClick={() => void complete.run({ id })}>
          {t('rotation.complete')}
        </Button>
        <Button
          variant="primary"
          busy={resume.busy}
          blockedReason={rotation.resumeBlockedReason}
          onClick={() => void resume.run({ id })}
        >
          {t('rotation.resume')}
        </Button>
      </div>
    </>
  )
}

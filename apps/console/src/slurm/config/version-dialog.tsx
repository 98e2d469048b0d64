'use client'
import { useState } from 'react'
import { useQuery } from 'urql'
import { toProblem } from '@/graphql/use-mutation.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SelectField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { PropertyList } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { ConfigDiff } from '../scale/config-diff.tsx'
import { DiffQuery, FilesQuery, type VersionRow } from './documents.ts'

/** A version: its files, or how they differ from those of another version. */
export function VersionDialog({
  clusterId,
  version: { number, origin, basedOn, reason, createdAt, createdBy },
  versions,
  current,
  blockedReason,
  trialBlockedReason,
  isTrialStarting,
  onTrial,
  onRollout,
  onClose,
}: {
  clusterId: string
  version: VersionRow
  versions: VersionRow[]
  /** The version that the hosts have. */
  current: number | null
  blockedReason: string | null
  trialBlockedReason: string | null
  isTrialStarting: boolean
  onTrial: (number: number) => void
  onRollout: (target: { number: number; isRollback: boolean }) => void
  onClose: () => void
}) {
  const [other, setOther] = useState(basedOn)
  const isRollback = current !== null && number < current
  return (
    <Dialog
      wide
      title={t('slurmConfig.version', { number: String(number) })}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.close')}</Button>
          <Button busy={isTrialStarting} blockedReason={trialBlockedReason} onClick={() => onTrial(number)}>
            {t('slurmConfig.trialStart')}
          </Button>
          {current !== null && number !== current && (
            <Button variant="primary" blockedReason={blockedReason} onClick={() => onRollout({ number, isRollback })}>
              {t(isRollback ? 'slurmConfig.rollback' : 'slurmConfig.rollout', { number: String(number) })}
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4 text-sm">
        <PropertyList
          rows={[
            [t('slurmConfig.origin'), t(`slurmConfigOrigin.${origin}`)],
            [t('slurmConfig.created'), `${createdBy.name}, ${formatDateTime(createdAt)}`],
            [t('slurmAction.reason'), reason],
          ]}
        />
        <SelectField
          label={t('slurmConfig.compare')}
          value={other ?? ''}
          onChange={(event) => setOther(event.target.value ? Number(event.target.value) : null)}
        >
          <option value="">{t('slurmConfig.compareNone')}</option>
          {versions
            .filter((one) => one.number !== number)
            .map((one) => (
              <option key={one.id} value={one.number}>
                {t('slurmConfig.version', { number: String(one.number) })}
              </option>
            ))}
        </SelectField>
        {other === null ? (
          <Files clusterId={clusterId} number={number} />
        ) : (
          <Difference clusterId={clusterId} from={other} to={number} />
        )}
      </div>
    </Dialog>
  )
}

function Files({ clusterId, number }: { clusterId: string; number: number }) {
  const [{ data, error }] = useQuery({ query: FilesQuery, variables: { id: clusterId, number } })
  if (error) return <Notice tone="bad">{toProblem(error).message}</Notice>
  const files = data?.slurmCluster?.configVersion?.files
  if (!files) return <Skeleton className="h-48 w-full" />
  return files.map(({ name, text }) => (
    <section key={name} className="flex flex-col gap-1">
      <h3 className="font-mono text-xs text-muted">{name}</h3>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
        tabIndex={0}
        className="max-h-96 overflow-auto rounded-md bg-sunken p-2 font-mono text-xs"
      >
        {text}
      </pre>
    </section>
  ))
}

function Difference({ clusterId, from, to }: { clusterId: string; from: number; to: number }) {
  const [{ data, error }] = useQuery({ query: DiffQuery, variables: { id: clusterId, from, to } })
  if (error) return <Notice tone="bad">{toProblem(error).message}</Notice>
  const diff = data?.slurmCluster?.configDiff
  if (!diff) return <Skeleton className="h-48 w-full" />
  if (diff.length === 0) return <p className="text-muted">{t('slurmConfig.sameFiles')}</p>
  return <ConfigDiff diff={diff} plan={null} />
}

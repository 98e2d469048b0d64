'use client'
import { Download, FileDiff, Pencil, Rocket, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { useQuery } from 'urql'
import { useConnection } from '@/graphql/use-connection.ts'
import { useLive } from '@/graphql/use-live.ts'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { Notice } from '@/ui/notice.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { Tabs } from '@/ui/tabs.tsx'
import { toast } from '@/ui/toast.tsx'
import { VirtualList } from '@/ui/virtual-list.tsx'
import type { ClusterRow } from '../documents.ts'
import { HISTORY_HEIGHT } from '../history-line.tsx'
import { OperationProgress } from '../scale/operation-progress.tsx'
import { SettingsTab } from '../settings-tab.tsx'
import { ClusterSnippets } from '../snippets/cluster-snippets.tsx'
import { useReloadOn } from '../use-reload-on.ts'
import { ConfigEditor } from './config-editor.tsx'
import {
  CheckDrift,
  type ClusterConfig,
  ConfigQuery,
  ConfigUpdated,
  ValidateConfig,
  type VersionRow,
  VersionsQuery,
} from './documents.ts'
import { DriftView } from './drift-view.tsx'
import { ImportDialog } from './import-dialog.tsx'
import { RolloutDialog } from './rollout-dialog.tsx'
import { SettingsEditor } from './settings-editor.tsx'
import { VersionDialog } from './version-dialog.tsx'
import { VersionLine } from './version-line.tsx'

type Cluster = Pick<ClusterRow, 'id' | 'name' | 'reuseConfig'>
type Open =
  | { kind: 'import' }
  | { kind: 'version'; version: VersionRow }
  | { kind: 'rollout'; number: number; isRollback: boolean }
  | { kind: 'check' | 'trial'; id: string }
const emptyPage = { edges: [], pageInfo: { hasNextPage: false, endCursor: null }, totalCount: 0 }

/** The versions of a cluster's configuration, and below them the one that its controller reports. */
export function ConfigTab({ cluster }: { cluster: Cluster }) {
  const [{ data, error }, refetch] = useQuery({
    query: ConfigQuery,
    variables: { id: cluster.id },
    requestPolicy: 'cache-and-network',
  })
  const [edited, setEdited] = useState<number | null>(null)
  const config = data?.slurmCluster
  useLive(ConfigUpdated, { id: cluster.id })
  const reload = () => refetch({ requestPolicy: 'network-only' })
  if (error && !config) return <Failure title={t('slurmConfig.loadFailed')} message={toProblem(error).message} onRetry={reload} />
  if (!config) return <SkeletonRows rows={4} height={HISTORY_HEIGHT} />
  if (edited !== null)
    return (
      <EditTabs
        clusterId={cluster.id}
        number={edited}
        onClose={() => {
          setEdited(null)
          reload()
        }}
      />
    )
  return (
    <div className="flex flex-col gap-6">
      <Versions cluster={cluster} config={config} onEdit={setEdited} onChanged={reload} />
      <ClusterSnippets
        cluster={cluster}
        versions={`${config.configVersion?.number} ${config.configNumber}`}
        blockedReason={config.saveConfigBlockedReason}
        onChanged={reload}
      />
      <section className="flex flex-col gap-3">
        <h2 className="text-base font-semibold">{t('slurmConfig.reported')}</h2>
        <SettingsTab id={cluster.id} />
      </section>
    </div>
  )
}

/** Two ways to edit a version: the text of its files, or keys of slurm.conf. */
function EditTabs(props: { clusterId: string; number: number; onClose: () => void }) {
  const [mode, setMode] = useState<'text' | 'settings'>('text')
  const tabs = [
    { key: 'text' as const, label: t('slurmConfig.text') },
    { key: 'settings' as const, label: t('slurmConfig.settings') },
  ]
  return (
    <Tabs label={t('slurmConfig.edit')} value={mode} onChange={setMode} tabs={tabs}>
      {mode === 'text' ? <ConfigEditor {...props} /> : <SettingsEditor {...props} />}
    </Tabs>
  )
}

function Versions({
  cluster,
  config,
  onEdit,
  onChanged,
}: {
  cluster: Cluster
  config: ClusterConfig
  onEdit: (number: number) => void
  onChanged: () => void
}) {
  const [open, setOpen] = useState<Open | null>(null)
  const check = useMutation(CheckDrift)
  const validate = useMutation(ValidateConfig)
  const list = useConnection(
    'slurm-config-versions',
    VersionsQuery,
    { id: cluster.id },
    (data) => data.slurmCluster?.configVersions ?? emptyPage,
  )
  const { configNumber: current, saveConfigBlockedReason, importConfigBlockedReason, checkConfigBlockedReason } = config
  const newest = config.configVersion?.number ?? null
  useReloadOn(String(newest), list.reload)
  const earlier = list.rows.find(({ number }) => number === current)?.basedOn ?? null
  const dialog = { cluster, onClose: () => setOpen(null), onDone: onChanged }
  async function startTrial(number: number) {
    const outcome = await validate.run({ input: { clusterId: cluster.id, number } })
    if (outcome.ok) setOpen({ kind: 'trial', id: outcome.value.slurmOperation.id })
    else toast('bad', outcome.problem.message)
  }
  const importButton = (
    <Button icon={<Download aria-hidden />} blockedReason={importConfigBlockedReason} onClick={() => setOpen({ kind: 'import' })}>
      {t('slurmConfig.import')}
    </Button>
  )
  async function startCheck() {
    const outcome = await check.run({ clusterId: cluster.id })
    if (outcome.ok) setOpen({ kind: 'check', id: outcome.value.slurmOperation.id })
    else toast('bad', outcome.problem.message)
  }
  return (
    <section className="flex flex-col gap-3">
      {cluster.reuseConfig && <Notice>{saveConfigBlockedReason}</Notice>}
      {newest !== null && (
        <div className="flex flex-wrap items-center gap-2">
          <h2 className="mr-auto text-base font-semibold">{t('slurmConfig.versions')}</h2>
          {current !== null && newest > current && (
            <Button
              variant="primary"
              icon={<Rocket aria-hidden />}
              blockedReason={saveConfigBlockedReason}
              onClick={() => setOpen({ kind: 'rollout', number: newest, isRollback: false })}
            >
              {t('slurmConfig.rollout', { number: String(newest) })}
            </Button>
          )}
          <Button icon={<Pencil aria-hidden />} blockedReason={saveConfigBlockedReason} onClick={() => onEdit(newest)}>
            {t('slurmConfig.edit')}
          </Button>
          {earlier !== null && (
            <Button
              icon={<Undo2 aria-hidden />}
              blockedReason={saveConfigBlockedReason}
              onClick={() => setOpen({ kind: 'rollout', number: earlier, isRollback: true })}
            >
              {t('slurmConfig.rollback', { number: String(earlier) })}
            </Button>
          )}
          <Button
            icon={<FileDiff aria-hidden />}
            busy={check.busy}
            blockedReason={checkConfigBlockedReason}
            onClick={() => void startCheck()}
          >
            {t('slurmConfig.check')}
          </Button>
          {importButton}
        </div>
      )}
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('slurmConfig.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : list.isLoading ? (
        <SkeletonRows rows={4} height={HISTORY_HEIGHT} />
      ) : list.rows.length === 0 ? (
        <Empty icon={<FileDiff aria-hidden />} title={t('slurmConfig.emptyTitle')} action={importButton}>
          <p>{t('slurmConfig.emptyText')}</p>
        </Empty>
      ) : (
        <div className="rounded-lg border border-line bg-panel">
          <VirtualList
            label={t('slurmConfig.versions')}
            rows={list.rows}
            rowHeight={HISTORY_HEIGHT}
            renderRow={(version) => (
              <VersionLine
                version={version}
                isCurrent={version.number === current}
                onOpen={() => setOpen({ kind: 'version', version })}
              />
            )}
            onNearEnd={list.more}
            hasMore={list.hasMore}
          />
        </div>
      )}
      {current !== null && <DriftView config={config} number={current} />}
      {open?.kind === 'import' && <ImportDialog {...dialog} />}
      {open?.kind === 'rollout' && <RolloutDialog {...dialog} target={open} />}
      {(open?.kind === 'check' || open?.kind === 'trial') && (
        <Dialog wide title={t(open.kind === 'check' ? 'slurmConfig.check' : 'slurmConfig.trialStart')} onClose={dialog.onClose}>
          <OperationProgress id={open.id} onClose={dialog.onClose} onDone={onChanged} />
        </Dialog>
      )}
      {open?.kind === 'version' && (
        <VersionDialog
          clusterId={cluster.id}
          version={open.version}
          versions={list.rows}
          current={current}
          blockedReason={saveConfigBlockedReason}
          trialBlockedReason={checkConfigBlockedReason}
          isTrialStarting={validate.busy}
          onTrial={(number) => void startTrial(number)}
          onRollout={(target) => setOpen({ kind: 'rollout', ...target })}
          onClose={dialog.onClose}
        />
      )}
    </section>
  )
}

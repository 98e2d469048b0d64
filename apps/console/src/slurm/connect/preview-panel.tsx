import { formatList } from '@/messages/format.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { Panel, PropertyList } from '@/ui/page.tsx'
import { ControllerNames } from '../controllers.tsx'
import type { ClusterTest } from '../documents.ts'

/** What a test found on a controller, before the cluster is added. */
export function PreviewPanel({ preview }: { preview: NonNullable<ClusterTest['preview']> }) {
  return (
    <Panel title={t('slurmConnect.preview')}>
      <PropertyList
        rows={[
          [t('slurm.clusterName'), preview.clusterName ?? t('common.none')],
          [t('slurm.version'), preview.version ?? t('common.none')],
          [t('slurmConnect.previewControllers'), <ControllerNames key="c" controllers={preview.controllers} />],
          [t('slurm.nodes'), formatNumber(preview.nodes)],
          [t('slurm.cpus'), formatNumber(preview.cpus)],
          [t('slurm.gpus'), formatNumber(preview.gpus)],
          [t('slurmConnect.previewJobs'), formatNumber(preview.jobs)],
          [t('slurm.partitions'), preview.partitions.length > 0 ? formatList(preview.partitions) : t('common.none')],
        ]}
      />
    </Panel>
  )
}

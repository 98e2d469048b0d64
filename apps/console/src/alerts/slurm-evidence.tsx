import { t } from '@/messages/index.ts'
import { PropertyList } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import type { AlertEvidence } from './documents.ts'

const TYPES = ['SlurmControllerEvidence', 'SlurmNodesEvidence', 'SlurmScaleOutEvidence'] as const
type SlurmEvidence = Extract<AlertEvidence, { __typename: (typeof TYPES)[number] }>

export const isSlurmEvidence = (evidence: AlertEvidence | null): evidence is SlurmEvidence =>
  TYPES.some((type) => type === evidence?.__typename)

/** Why a controller is silent and since when, or the nodes that an alert of a cluster is about, with the error of a scale-out. */
export function SlurmEvidenceView({ evidence }: { evidence: SlurmEvidence }) {
  if (evidence.__typename === 'SlurmControllerEvidence')
    return (
      <PropertyList
        rows={[
          [t('alerts.since'), <RelativeTime key="s" at={evidence.since} />],
          [t('alerts.error'), evidence.error ?? t('common.none')],
        ]}
      />
    )
  const more = (evidence.total ?? 0) - evidence.nodes.length
  return (
    <>
      {'error' in evidence && evidence.error && <p className="pb-2 text-sm wrap-anywhere">{evidence.error}</p>}
      <table className="w-full text-left text-sm">
        <thead className="text-xs text-muted">
          <tr>
            <th className="py-1 pr-3 font-medium" scope="col">
              {t('alerts.node')}
            </th>
            <th className="py-1 pr-3 font-medium" scope="col">
              {t('alerts.cause')}
            </th>
            <th className="py-1 font-medium" scope="col">
              {t('alerts.since')}
            </th>
          </tr>
        </thead>
        <tbody>
          {evidence.nodes.map(({ name, detail, since }) => (
            <tr key={name} className="border-t border-line align-baseline">
              <th className="py-1 pr-3 font-mono text-xs font-normal" scope="row">
                {name}
              </th>
              <td className="py-1 pr-3 wrap-anywhere">{detail ?? t('common.none')}</td>
              <td className="py-1 whitespace-nowrap">{since ? <RelativeTime at={since} /> : t('common.none')}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {more > 0 && <p className="pt-2 text-xs text-muted">{t('alerts.andMore', { count: more })}</p>}
    </>
  )
}

import Link from 'next/link'
import { EffectiveBootPanel } from '@/boot/profiles/effective-panel.tsx'
import { ToolReports } from '@/discoveries/tool-reports.tsx'
import { groupHref } from '@/groups/documents.ts'
import { formatBytes, formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { SlurmNodeStates } from '@/slurm/nodes/node-states.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel, PropertyList } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { AcceleratorBadges, formatAddress, formatOs } from './badges.tsx'
import { formatAddresses } from './interface-fields.tsx'
import type { NodePageData } from './node-documents.ts'

const mono = (text: string | null | undefined) =>
  text ? <code className="font-mono text-xs break-all">{text}</code> : <span className="text-faint">{t('common.none')}</span>
const credentialLink = (credential: { id: string; name: string } | null) =>
  credential ? (
    <Link className="hover:underline" href="/credentials">
      {credential.name}
    </Link>
  ) : (
    <span className="text-faint">{t('common.none')}</span>
  )

/** Overview of a node: hardware, access, latest discovery, details. */
export function OverviewTab({ node }: { node: NodePageData }) {
  const discovery = node.latestDiscovery
  return (
    <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
      <Panel title={t('node.hardware')}>
        <PropertyList
          rows={[
            [
              t('nodes.accelerators'),
              node.acceleratorSummary.length > 0 ? (
                <AcceleratorBadges key="a" summary={node.acceleratorSummary} />
              ) : (
                t('common.none')
              ),
            ],
            [t('node.cpu'), node.cpu?.model ?? t('common.none')],
            [
              t('node.cores'),
              node.cpu?.threads
                ? t('node.coresText', {
                    sockets: String(node.cpu.sockets ?? '?'),
                    cores: String(node.cpu.cores ?? '?'),
                    threads: String(node.cpu.threads),
                  })
                : t('common.none'),
            ],
            [t('node.memory'), formatBytes(node.memoryBytes)],
            [t('node.arch'), node.arch ?? t('common.none')],
            [t('nodes.os'), formatOs(node)],
            [t('node.kernel'), mono(node.kernel)],
            [
              t('node.booted'),
              node.bootedAt ? (
                <span key="b" title={formatDateTime(node.bootedAt)}>
                  <RelativeTime at={node.bootedAt} />
                </span>
              ) : (
                t('common.none')
              ),
            ],
          ]}
        />
      </Panel>
      <Panel title={t('node.access')}>
        <PropertyList
          rows={[
            [t('node.connectionType'), t(`connectionType.${node.connectionType}`)],
            [t('nodes.address'), mono(formatAddress(node.host, node.port))],
            [t('node.user'), mono(node.sshUser)],
            [t('node.credential'), credentialLink(node.credential)],
            [t('node.becomeCredential'), credentialLink(node.becomeCredential)],
            [t('node.bastion'), credentialLink(node.bastion)],
            [t('hostKey.pinned'), mono(node.hostKeyFingerprint)],
            [t('hostKey.approvedAt'), <RelativeTime key="a" at={node.hostKeyApprovedAt} />],
          ]}
        />
      </Panel>
      <Panel title={t('node.latestDiscovery')}>
        {discovery ? (
          <div className="flex flex-col gap-3">
            <p className="text-sm text-muted">
              {t(`discoveryReason.${discovery.reason}`)} · <RelativeTime at={discovery.finishedAt ?? discovery.createdAt} />
            </p>
            {discovery.error && <Notice tone="bad">{discovery.error}</Notice>}
            {discovery.warnings.map((warning) => (
              <Notice key={warning} tone="warn">
                {warning}
              </Notice>
            ))}
            <ToolReports discovery={discovery} />
          </div>
        ) : (
          <p className="text-sm text-muted">{t('node.notDiscovered')}</p>
        )}
      </Panel>
      <Panel title={t('node.about')}>
        <PropertyList
          rows={[
            [t('node.type'), t(`nodeType.${node.nodeType}`)],
            [t('filter.region'), node.region ?? t('common.none')],
            [t('filter.datacenter'), node.datacenter ?? t('common.none')],
            [t('filter.rack'), [node.rack, node.rackPosition].filter(Boolean).join(', ') || t('common.none')],
            [
              t('node.xname'),
              <span key="x" className="flex flex-col gap-1">
                {mono(node.xname)}
                {node.xnameRejections.map((rejection) => (
                  <span key={rejection} className="text-xs text-warn">
                    {t('node.xnameRejected', { rejection })}
                  </span>
                ))}
              </span>,
            ],
            [t('node.nid'), node.nid ?? t('common.none')],
            [t('node.managementIp'), mono(node.managementIp)],
            [
              t('node.interfaces'),
              node.interfaces.length > 0 ? (
                <span key="i" className="flex flex-col gap-1">
                  {node.interfaces.map((each) => (
                    <span key={each.name} className="flex flex-wrap items-center gap-1.5">
                      <code className="font-mono text-xs wrap-anywhere">
                        {[each.name, each.mac, formatAddresses(each.addresses)].filter(Boolean).join(' · ')}
                      </code>
                      {each.isBoot && <Badge>{t('node.boots')}</Badge>}
                    </span>
                  ))}
                </span>
              ) : (
                t('common.none')
              ),
            ],
            [
              t('nodes.tags'),
              node.tags.length > 0 ? (
                <span key="t" className="flex flex-wrap gap-1">
                  {node.tags.map((tag) => (
                    <Badge key={tag} title={tag}>
                      <span className="truncate">{tag}</span>
                    </Badge>
                  ))}
                </span>
              ) : (
                t('common.none')
              ),
            ],
            [
              t('node.labels'),
              node.labels.length > 0 ? (
                <span key="l" className="flex flex-wrap gap-1">
                  {node.labels.map(({ key, value }) => (
                    <Badge key={key} mono title={`${key}=${value}`}>
                      <span className="truncate">{`${key}=${value}`}</span>
                    </Badge>
                  ))}
                </span>
              ) : (
                t('common.none')
              ),
            ],
            [
              t('node.groups'),
              node.groups.length > 0 ? (
                <span key="g" className="flex flex-wrap gap-x-3 gap-y-1">
                  {node.groups.map(({ id, name, displayName }) => (
                    <Link key={id} href={groupHref(id)} className="min-w-0 wrap-anywhere hover:underline">
                      {displayName ?? name}
                    </Link>
                  ))}
                </span>
              ) : (
                t('common.none')
              ),
            ],
            [t('node.slurm'), <SlurmNodeStates key="s" nodes={node.slurmNodes} />],
            [
              t('node.notes'),
              node.notes ? (
                <span key="n" className="whitespace-pre-line">
                  {node.notes}
                </span>
              ) : (
                t('common.none')
              ),
            ],
            [t('node.added'), <RelativeTime key="c" at={node.createdAt} />],
            [t('nodes.lastSeen'), <RelativeTime key="s" at={node.lastSeenAt} never={t('nodes.neverSeen')} />],
          ]}
        />
      </Panel>
      <EffectiveBootPanel nodeId={node.id} />
    </div>
  )
}

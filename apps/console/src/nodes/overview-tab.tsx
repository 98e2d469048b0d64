import Link from 'next/link'
import { formatBytes, formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Facts, Panel } from '@/ui/page.tsx'
import { Ago } from '@/ui/time.tsx'
import { AcceleratorBadges, formatAddress, formatOs } from './badges.tsx'
import type { NodePageData } from './node-documents.ts'
import { ToolReports } from './tool-reports.tsx'

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

/** The node at a glance: how to reach it, what it is, what its last look said. */
export function OverviewTab({ node }: { node: NodePageData }) {
  const labels = Object.entries((node.labels ?? {}) as Record<string, unknown>)
  const discovery = node.latestDiscovery
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Panel title={t('node.hardware')}>
        <Facts
          rows={[
            [
              t('nodes.accelerators'),
              node.acceleratorSummary.length > 0 ? (
                <AcceleratorBadges key="a" summary={node.acceleratorSummary} />
              ) : (
                t('common.none')
              ),
            ],
            [t('node.cpu'), node.cpuModel ?? t('common.none')],
            [
              t('node.cores'),
              node.cpuThreads
                ? t('node.coresText', { sockets: node.cpuSockets ?? '?', cores: node.cpuCores ?? '?', threads: node.cpuThreads })
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
                  <Ago at={node.bootedAt} />
                </span>
              ) : (
                t('common.none')
              ),
            ],
          ]}
        />
      </Panel>
      <Panel title={t('node.access')}>
        <Facts
          rows={[
            [t('nodes.address'), mono(formatAddress(node.host, node.port))],
            [t('node.user'), mono(node.sshUser)],
            [t('node.credential'), credentialLink(node.credential)],
            [t('node.becomeCredential'), credentialLink(node.becomeCredential)],
            [t('node.bastion'), credentialLink(node.bastion)],
            [t('hostKey.pinned'), mono(node.hostKeyFingerprint)],
            [t('hostKey.approvedAt'), <Ago key="a" at={node.hostKeyApprovedAt} />],
          ]}
        />
      </Panel>
      <Panel title={t('node.lastLook')}>
        {discovery ? (
          <div className="flex flex-col gap-3">
            <p className="text-sm text-muted">
              {t(`discoveryReason.${discovery.reason}`)} · <Ago at={discovery.finishedAt ?? discovery.createdAt} />
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
          <p className="text-sm text-muted">{t('node.neverLooked')}</p>
        )}
      </Panel>
      <Panel title={t('node.about')}>
        <Facts
          rows={[
            [t('node.type'), t(`nodeType.${node.nodeType}`)],
            [
              t('nodes.tags'),
              node.tags.length > 0 ? (
                <span key="t" className="flex flex-wrap gap-1">
                  {node.tags.map((tag) => (
                    <Badge key={tag}>{tag}</Badge>
                  ))}
                </span>
              ) : (
                t('common.none')
              ),
            ],
            [
              t('node.labels'),
              labels.length > 0 ? (
                <span key="l" className="flex flex-wrap gap-1">
                  {labels.map(([key, value]) => (
                    <Badge key={key} mono>{`${key}=${String(value)}`}</Badge>
                  ))}
                </span>
              ) : (
                t('common.none')
              ),
            ],
            [
              t('node.groups'),
              node.groups.length > 0 ? node.groups.map((group) => group.displayName ?? group.name).join(', ') : t('common.none'),
            ],
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
            [t('node.added'), <Ago key="c" at={node.createdAt} />],
            [t('nodes.lastSeen'), <Ago key="s" at={node.lastSeenAt} never={t('nodes.neverSeen')} />],
          ]}
        />
      </Panel>
    </div>
  )
}

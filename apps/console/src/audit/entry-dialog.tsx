import Link from 'next/link'
import type { ReactNode } from 'react'
import { formatDateTime } from '@/messages/format.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { PropertyList } from '@/ui/page.tsx'
import { AuditDiff } from './diff.tsx'
import { type AuditEntry, actorText } from './documents.ts'
import { OutcomeBadge } from './entry-line.tsx'

const mono = (text: string) => <code className="font-mono text-xs break-all">{text}</code>
const isText = (json: string) => json.startsWith('"')

/** All facts of an entry. `onFilter` shows the entries of the same actor or object. */
export function AuditEntryDialog({
  entry,
  onClose,
  onFilter,
}: {
  entry: AuditEntry
  onClose: () => void
  onFilter: (filter: { actor: string } | { object: string }) => void
}) {
  const optional = (label: string, value: ReactNode): [string, ReactNode][] => (value ? [[label, value]] : [])
  const { actorName, objectId } = entry
  return (
    <Dialog wide title={[entry.action, entry.objectName].filter(Boolean).join(' · ')} onClose={onClose}>
      <div className="flex flex-col gap-5">
        <PropertyList
          rows={[
            [t('audit.time'), formatDateTime(entry.createdAt)],
            [t('audit.outcome'), <OutcomeBadge key="o" entry={entry} />],
            ...optional(t('audit.error'), entry.error),
            [t('audit.actor'), `${actorText(entry)} (${t(`auditActor.${entry.actorKind}`)})`],
            [t('audit.channel'), t(`auditChannel.${entry.channel}`)],
            ...optional(t('audit.address'), entry.address),
            ...optional(t('audit.userAgent'), entry.userAgent),
            ...optional(t('audit.permission'), entry.permission && mono(entry.permission)),
            ...optional(t('audit.object'), entry.objectName),
            ...optional(t('audit.reason'), entry.reason),
            ...optional(
              t('audit.run'),
              entry.runId && (
                <Link key="r" className="underline underline-offset-2" href={`/runs/${encodeURIComponent(entry.runId)}`}>
                  {t('audit.openRun')}
                </Link>
              ),
            ),
            ...optional(t('audit.requestId'), entry.requestId && mono(entry.requestId)),
            [t('audit.position'), entry.seq === null ? t('audit.unsealed') : formatNumber(entry.seq)],
            ...optional(t('audit.hash'), entry.hash && mono(entry.hash)),
          ]}
        />
        <div className="flex flex-wrap gap-2">
          <Button onClick={() => onFilter({ actor: actorName })}>{t('audit.sameActor')}</Button>
          {objectId && <Button onClick={() => onFilter({ object: objectId })}>{t('audit.sameObject')}</Button>}
        </div>
        <section className="flex flex-col gap-1">
          <h3 className="text-sm font-semibold">{t('audit.change')}</h3>
          <AuditDiff changes={entry.changes} />
        </section>
        {entry.details.length > 0 && (
          <section className="flex flex-col gap-2">
            <h3 className="text-sm font-semibold">{t('audit.details')}</h3>
            <PropertyList
              rows={entry.details.map(({ name, value }) => [name, isText(value) ? String(JSON.parse(value)) : mono(value)])}
            />
          </section>
        )}
      </div>
    </Dialog>
  )
}

'use client'
import { useState } from 'react'
import { formatNumber, t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'
import type { Change, Plan } from './documents.ts'

const PAGE = 100
const TONES = { CREATE: 'ok', UPDATE: 'warn', DELETE: 'bad' } as const

function ChangeRow({ action, kind, names, count, fields }: Change) {
  return (
    <li className="flex flex-col gap-2 border-line px-4 py-3 text-sm not-first:border-t">
      <div className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <Badge tone={TONES[action]}>{t(`manifestAction.${action}`)}</Badge>
        <span className="text-muted">{kind}</span>
        <span className="min-w-0 font-mono font-medium wrap-anywhere">{names}</span>
        {count > 1 && <span className="text-xs text-muted tabular-nums">{t('manifest.objects', { count })}</span>}
      </div>
      {action !== 'DELETE' && fields.length > 0 && (
        <dl className="grid gap-x-4 gap-y-1 sm:grid-cols-[minmax(8rem,14rem)_1fr]">
          {fields.map(({ path, before, after }) => (
            <div key={path} className="contents">
              <dt className="font-mono text-xs text-muted wrap-anywhere">{path}</dt>
              <dd className="min-w-0 font-mono text-xs wrap-anywhere">
                {before !== null && (
                  <>
                    <del className="text-bad">{before}</del>{' '}
                  </>
                )}
                {after === null ? (
                  <span className="text-muted">{t('manifest.default')}</span>
                ) : (
                  <ins className="text-ok no-underline">{after}</ins>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </li>
  )
}

function Problems({ plan: { issues, issueCount, conflicts, conflictCount, warnings } }: { plan: Plan }) {
  return (
    <>
      {warnings.map((text) => (
        <Notice key={text} tone="warn">
          {text}
        </Notice>
      ))}
      {issueCount > 0 && (
        <Notice tone="bad" title={t('manifest.issues', { count: issueCount })}>
          <ul className="flex flex-col gap-2 pt-2">
            {issues.map(({ file, document, line, column, path, message, allowed }) => (
              <li key={`${file} ${document} ${line} ${column} ${path} ${message}`}>
                <p className="font-mono text-xs wrap-anywhere">
                  {line > 0 && `${file}:${line}:${column} `}
                  {path}
                </p>
                <p className="wrap-anywhere">{message}</p>
                {allowed.length > 0 && (
                  <p className="text-xs wrap-anywhere">{t('manifest.allowed', { values: allowed.join(', ') })}</p>
                )}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {conflictCount > 0 && (
        <Notice tone="bad" title={t('manifest.conflicts', { count: conflictCount })}>
          <ul className="flex flex-col gap-1 pt-2">
            {conflicts.map(({ kind, name, path, message }) => (
              <li key={`${kind} ${name} ${path}`} className="wrap-anywhere">
                {kind} <span className="font-mono">{name}</span>: {path && <span className="font-mono">{path} </span>}
                {message}
              </li>
            ))}
          </ul>
        </Notice>
      )}
    </>
  )
}

/** What applying changes: problems first, then the impact and the changes. */
export function PlanView({ plan }: { plan: Plan }) {
  const [shown, setShown] = useState(PAGE)
  const { changes, changeCount, createCount, updateCount, deleteCount, unchangedCount, impact, issueCount } = plan
  return (
    <section aria-label={t('manifest.plan')} className="flex flex-col gap-3">
      <Problems plan={plan} />
      {impact.length > 0 && (
        <Notice tone="warn" title={t('manifest.impact')}>
          <ul className="flex flex-col gap-1 pt-1">
            {impact.map(({ kind, count, nodes }) => (
              <li key={kind} className="wrap-anywhere">
                {t(`manifestImpact.${kind}`, { count })} <span className="font-mono text-xs">{nodes}</span>
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {issueCount === 0 && (
        <p className="text-sm text-muted tabular-nums" aria-live="polite">
          {t(plan.isApplied ? 'manifest.summaryApplied' : 'manifest.summary', {
            create: formatNumber(createCount),
            update: formatNumber(updateCount),
            delete: formatNumber(deleteCount),
            unchanged: formatNumber(unchangedCount),
          })}
        </p>
      )}
      {changes.length > 0 && (
        <ul aria-label={t('manifest.changes')} className="rounded-lg border border-line bg-panel">
          {changes.slice(0, shown).map((change) => (
            <ChangeRow key={`${change.action} ${change.kind} ${change.names}`} {...change} />
          ))}
        </ul>
      )}
      {shown < changes.length ? (
        <Button className="self-center" onClick={() => setShown(shown + PAGE)}>
          {t('common.loadMore')}
        </Button>
      ) : (
        changeCount > changes.length && (
          <p className="text-sm text-muted">{t('manifest.more', { count: changeCount - changes.length })}</p>
        )
      )}
    </section>
  )
}

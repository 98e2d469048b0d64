'use client'
import type { ReactNode } from 'react'
import { formatNumber, t } from '@/messages/index.ts'
import { Badge, State, type Tone } from '@/ui/badge.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel, PropertyList } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import type { Target } from './documents.ts'

const tones: Record<Target['state'], Tone> = { PENDING: 'neutral', IN_SYNC: 'ok', DRIFT: 'warn', FAILING: 'bad' }
const differenceTones = { MISSING: 'warn', DIFFERENT: 'warn', EXTRA: 'neutral' } as const satisfies Record<string, Tone>

/** The services, the result of the last check, and the differences that it left. */
export function TargetView({ target }: { target: Target }) {
  const { smdUrl, bssUrl, state, isCheckPending, checkedAt, error, failingSince, driftSince, differences } = target
  const since = state === 'FAILING' ? failingSince : state === 'DRIFT' ? driftSince : null
  const rows: [string, ReactNode][] = [
    [
      t('openchami.state'),
      <span key="s" className="flex flex-wrap items-center gap-x-3">
        <State tone={tones[state]} busy={isCheckPending}>
          {t(`openchamiState.${state}`)}
        </State>
        {since && (
          <span className="text-xs text-muted">
            {t('openchami.since')} <RelativeTime at={since} />
          </span>
        )}
      </span>,
    ],
    [t('openchami.checked'), <RelativeTime key="c" at={checkedAt} never={t('common.never')} />],
    [
      t('openchami.pushed'),
      <span key="p">
        <RelativeTime at={target.pushedAt} never={t('common.never')} />
        {target.pushedCount !== null && ` · ${t('openchami.objects', { count: target.pushedCount })}`}
      </span>,
    ],
    [t('openchami.smd'), smdUrl ?? t('common.none')],
    [t('openchami.bss'), bssUrl ?? t('common.none')],
    [t('openchami.token'), t(target.hasToken ? 'common.yes' : 'common.no')],
    [t('openchami.mode'), t(`openchamiMode.${target.mode}`)],
    [t('openchami.interval'), target.mode === 'OFF' ? t('openchami.onRequest') : formatNumber(target.intervalSeconds)],
  ]
  return (
    <div className="flex flex-col gap-4">
      {error && <Notice tone="bad">{error}</Notice>}
      <Panel title={t('openchami.target')}>
        <PropertyList rows={rows} />
      </Panel>
      <Panel flush title={t('openchami.differences', { count: formatNumber(target.differenceCount) })}>
        {differences.length === 0 && <p className="p-4 text-sm text-muted">{t('openchami.noDifferences')}</p>}
        <ul aria-label={t('openchami.differenceList')}>
          {differences.map(({ object, state: kind, fields }) => (
            <li
              key={object}
              className="flex flex-wrap items-baseline gap-x-3 gap-y-1 border-line px-4 py-2 text-sm not-first:border-t"
            >
              <span className="min-w-0 font-mono wrap-anywhere">{object}</span>
              <Badge tone={differenceTones[kind]}>{t(`openchamiDifference.${kind}`)}</Badge>
              <span className="w-full text-xs wrap-anywhere text-muted">
                {fields
                  .map(({ field, theirs, ours }) =>
                    t('openchami.change', { field, theirs: theirs ?? t('common.none'), ours: ours ?? t('common.none') }),
                  )
                  .join('; ')}
              </span>
            </li>
          ))}
        </ul>
        {target.differenceCount > differences.length && (
          <p className="border-t border-line px-4 py-2 text-xs text-muted">
            {t('group.andMore', { count: formatNumber(target.differenceCount - differences.length) })}
          </p>
        )}
      </Panel>
    </div>
  )
}

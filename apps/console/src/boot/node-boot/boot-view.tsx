'use client'
import { formatDateTime, formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { State, type Tone } from '@/ui/badge.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import type { Boot } from './documents.ts'

const tones: Record<Boot['state'], Tone> = { BOOTING: 'accent', READY: 'ok', ABANDONED: 'neutral' }

/** A boot: its stages with their durations, and what the node fetched. */
export function BootView({ boot }: { boot: Boot }) {
  return (
    <div className="flex flex-col gap-4">
      {boot.stuck && (
        <Notice tone="warn">
          {t.rich('boot.stuck', {
            stage: t(`bootStage.${boot.stuck.stage}`),
            time: () => <RelativeTime at={boot.stuck?.since} />,
          })}
        </Notice>
      )}
      <div className="flex flex-wrap items-center gap-x-5 gap-y-1 text-sm text-muted">
        <span className="text-text">
          <State tone={tones[boot.state]} busy={boot.state === 'BOOTING' && !boot.stuck}>
            {t(`bootState.${boot.state}`)}
          </State>
        </span>
        <span>{formatDateTime(boot.startedAt)}</span>
        {boot.profile && <span>{t('boot.profile', { name: boot.profile, version: boot.profileVersion ?? 0 })}</span>}
        {boot.mac && <code className="font-mono text-xs">{boot.mac}</code>}
      </div>
      <Panel title={t('boot.timeline')}>
        <ol className="flex flex-col gap-1.5 text-sm">
          {boot.timeline.map(({ stage, reachedAt, durationMs }) => (
            <li key={stage} className="flex items-baseline gap-x-3">
              <span className="min-w-24 flex-1">{t(`bootStage.${stage}`)}</span>
              <time dateTime={reachedAt} className="text-xs text-muted tabular-nums">
                {formatDateTime(reachedAt)}
              </time>
              <span className="w-16 text-right text-xs whitespace-nowrap tabular-nums">
                {durationMs === null ? '' : t('boot.after', { duration: formatDuration(durationMs) })}
              </span>
            </li>
          ))}
        </ol>
      </Panel>
      <Panel title={t('boot.fetches')}>
        <div className="overflow-x-auto">
          <table className="w-full text-left text-sm">
            <thead className="text-xs text-muted">
              <tr>
                {(['what', 'count', 'last', 'hash', 'profile', 'token', 'address'] as const).map((column) => (
                  <th key={column} className="py-1 pr-3 font-medium whitespace-nowrap" scope="col">
                    {t(`bootFetch.${column}`)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {boot.fetches.map((fetch) => (
                <tr key={`${fetch.kind} ${fetch.hash} ${fetch.hasToken}`} className="border-t border-line align-baseline">
                  <th className="py-1 pr-3 font-normal whitespace-nowrap" scope="row">
                    {t(`bootFetchKind.${fetch.kind}`)}
                  </th>
                  <td className="py-1 pr-3 tabular-nums">{fetch.count}</td>
                  <td className="py-1 pr-3 whitespace-nowrap">
                    <RelativeTime at={fetch.lastAt} />
                  </td>
                  <td className="py-1 pr-3 font-mono text-xs" title={fetch.hash}>
                    {fetch.hash.slice(0, 12)}
                  </td>
                  <td className="py-1 pr-3">
                    {fetch.profile && t('bootFetch.version', { name: fetch.profile, version: fetch.profileVersion ?? 0 })}
                  </td>
                  <td className="min-w-40 py-1 pr-3">
                    {fetch.hasToken ? t('bootFetch.sent') : fetch.refusal && t('bootFetch.notSent', { reason: fetch.refusal })}
                  </td>
                  <td className="py-1 font-mono text-xs">{fetch.address}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Panel>
    </div>
  )
}

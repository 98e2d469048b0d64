'use client'
import { useEffect, useRef } from 'react'
import { t } from '@/messages/index.ts'
import { Blockers } from '@/run-queue/blockers.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import type { RunPreview } from './documents.ts'
import { SlurmPreview } from './slurm-preview.tsx'

/** Preview of a run: hosts, blockers and the command. */
export function Preview({ preview }: { preview: RunPreview }) {
  const { rejections, skipped, waitsFor, extraVars } = preview
  const secretNames = extraVars.filter(({ value }) => value.isSecret).map(({ name }) => name)
  const box = useRef<HTMLDivElement>(null)
  // The preview appears below its button, often outside the viewport.
  useEffect(() => {
    // Braces, because newer browsers return a promise, which React would take for a cleanup function.
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <Panel title={t('preview.title')}>
      <div ref={box} className="flex scroll-mb-24 flex-col gap-3 text-sm" role="status">
        <p>
          {t('runs.hosts', { count: preview.hostCount })}{' '}
          <span className="font-mono text-xs break-all text-muted">{preview.hostlist}</span>
        </p>
        {rejections.length > 0 && (
          <Notice tone="bad" title={t('preview.rejected')}>
            <ul>
              {rejections.map(({ reason, count, hostlist }) => (
                <li key={reason}>
                  {t.rich('preview.rejection', {
                    count,
                    reason,
                    hostlist,
                    hosts: (names) => <span className="font-mono text-xs break-all">{names}</span>,
                  })}
                </li>
              ))}
            </ul>
          </Notice>
        )}
        {skipped.length > 0 && (
          <Notice tone="warn" title={t('preview.skipped')}>
            <ul>
              {skipped.map(({ reason, hostlist }) => (
                <li key={reason}>
                  <span className="font-mono text-xs break-all">{hostlist}</span> {reason}
                </li>
              ))}
            </ul>
          </Notice>
        )}
        {preview.setsMaintenance && <p className="text-muted">{t('preview.setsMaintenance')}</p>}
        {waitsFor.length > 0 && (
          <Notice tone="warn" title={t('preview.waits', { count: waitsFor.length })}>
            <Blockers runs={waitsFor} />
          </Notice>
        )}
        {preview.slurm && <SlurmPreview slurm={preview.slurm} />}
        {secretNames.length > 0 && <p className="text-muted">{t('preview.secrets', { names: secretNames.join(', ') })}</p>}
        <pre className="overflow-auto rounded-md bg-sunken p-2.5 font-mono text-xs leading-5 whitespace-pre-wrap">
          {preview.command.join(' ')}
        </pre>
      </div>
    </Panel>
  )
}

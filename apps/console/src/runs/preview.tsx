'use client'
import { useEffect, useRef } from 'react'
import { t } from '@/messages/index.ts'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import type { RunPreview } from './documents.ts'
import { Obstacles } from './obstacles.tsx'

/** Where a run would go, what keeps it from there, and the command of its worker. */
export function Preview({ preview }: { preview: RunPreview }) {
  const { refusals, waitsFor } = preview
  const box = useRef<HTMLDivElement>(null)
  // It comes below the button that asked for it, often below what is on screen.
  useEffect(() => {
    // In braces: browsers have begun to return a promise from it, and React takes what an effect returns for its clean-up.
    box.current?.scrollIntoView({ block: 'nearest' })
  }, [])
  return (
    <Panel title={t('preview.title')}>
      <div ref={box} className="flex scroll-mb-24 flex-col gap-3 text-sm" role="status">
        <p>
          {t('runs.hosts', { count: preview.hostsTotal })}{' '}
          <span className="font-mono text-xs break-all text-muted">{preview.hostlist}</span>
        </p>
        {refusals.length > 0 && (
          <Notice tone="bad" title={t('preview.refused')}>
            <ul>
              {refusals.map(({ reason, count, hostlist }) => (
                <li key={reason}>
                  {t('preview.refusal', { count, reason })} <span className="font-mono text-xs break-all">{hostlist}</span>
                </li>
              ))}
            </ul>
          </Notice>
        )}
        {waitsFor.length > 0 && (
          <Notice tone="warn" title={t('preview.waits', { count: waitsFor.length })}>
            <Obstacles runs={waitsFor} />
          </Notice>
        )}
        {preview.secretVars.length > 0 && (
          <p className="text-muted">{t('preview.secrets', { names: preview.secretVars.join(', ') })}</p>
        )}
        <pre className="overflow-auto rounded-md bg-sunken p-2.5 font-mono text-xs leading-5 whitespace-pre-wrap">
          {preview.command.join(' ')}
        </pre>
      </div>
    </Panel>
  )
}

import Link from 'next/link'
import { t } from '@/messages/index.ts'
import type { RunPreview } from './documents.ts'
import { runHref } from './run-line.tsx'

type Obstacle = RunPreview['waitsFor'][number]

/** Runs that are waited for, and on which nodes. */
export function Obstacles({ runs }: { runs: readonly Obstacle[] }) {
  return (
    <ul>
      {runs.map(({ run, ownerName, hostlist, acquiredAt }) => (
        <li key={run.id}>
          <Link href={runHref(run.id)} className="font-medium underline underline-offset-2">
            {run.template.displayName}
          </Link>{' '}
          {t(acquiredAt ? 'run.waitsForHolder' : 'run.waitsForEarlier', { name: ownerName })}{' '}
          <span className="font-mono text-xs break-all">{hostlist}</span>
        </li>
      ))}
    </ul>
  )
}

import Link from 'next/link'
import { t } from '@/messages/index.ts'
import type { RunPreview } from '@/runs/documents.ts'
import { runHref } from '@/runs/run-line.tsx'

type Blocker = RunPreview['waitsFor'][number]

/** Runs that block another run, with the nodes they hold. */
export function Blockers({ runs }: { runs: readonly Blocker[] }) {
  return (
    <ul>
      {runs.map(({ run, hostlist, acquiredAt }) => (
        <li key={run.id}>
          {t.rich(acquiredAt ? 'run.blockedByRunning' : 'run.blockedByQueued', {
            template: run.template.displayName,
            owner: run.createdBy.name,
            hostlist,
            run: (name) => (
              <Link href={runHref(run.id)} className="font-medium underline underline-offset-2">
                {name}
              </Link>
            ),
            hosts: (names) => <span className="font-mono text-xs break-all">{names}</span>,
          })}
        </li>
      ))}
    </ul>
  )
}

'use client'
import { useQuery } from 'urql'
import { toProblem, unwrap } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { useSettled } from '@/ui/hooks/use-settled.ts'
import { type ActionInput, type Preview, PreviewAction } from './documents.ts'

const SHOWN = 12

/** The input without its reason, which changes no target. */
const withoutReason = ({ reason: _, ...input }: ActionInput): string => JSON.stringify(input)

/** What the action would do, read again when the input changes and typing pauses. */
export function useActionPreview(input: ActionInput, isComplete: boolean) {
  const key = JSON.stringify(input)
  const settled = useSettled(key)
  const [{ data, error, operation }] = useQuery({
    query: PreviewAction,
    variables: { input: JSON.parse(settled) as ActionInput },
    pause: !isComplete || settled !== key,
    requestPolicy: 'network-only',
  })
  const outcome = data && unwrap(data)
  const answered = operation?.variables.input
  const isCurrent = isComplete && answered !== undefined && withoutReason(answered) === withoutReason(input)
  return {
    preview: isComplete && outcome?.ok ? outcome.value : null,
    /** Whether preview and problem are those of the input. */
    isCurrent,
    problem: !isCurrent ? null : error ? toProblem(error) : outcome && !outcome.ok ? outcome.problem : null,
    isLoading: isComplete && !isCurrent && !outcome?.ok,
  }
}

/** The targets and commands of an action. */
export function ActionPreview({ preview, isCurrent }: { preview: Preview; isCurrent: boolean }) {
  const targets = preview.targets.edges.map(({ node }) => node)
  return (
    <section className={`flex flex-col gap-2 rounded-md bg-sunken p-3 ${isCurrent ? '' : 'opacity-55'}`} aria-busy={!isCurrent}>
      <h3 className="text-xs font-medium text-muted">
        {t('slurmAction.preview', { targets: preview.targetCount, commands: preview.commandCount })}
      </h3>
      {preview.runningJobCount > 0 && (
        <p className="text-warn">{t('slurmAction.runningJobs', { count: preview.runningJobCount })}</p>
      )}
      {preview.deniedCount > 0 && <p className="text-warn">{t('slurmAction.denied', { count: preview.deniedCount })}</p>}
      <ul className="flex flex-col gap-1">
        {targets.slice(0, SHOWN).map(({ target, state, isReached, runningJobs, user }) => (
          <li key={target} className="flex flex-wrap items-baseline gap-x-3">
            <span className="font-mono text-xs font-medium">{target}</span>
            <span className="font-mono text-xs text-muted">{state ?? t('slurmAction.unknown')}</span>
            {user && <span className="text-xs text-muted">{user}</span>}
            {isReached && <span className="text-xs text-muted">{t('slurmResult.UNCHANGED')}</span>}
            {runningJobs.length > 0 && (
              <span className="text-xs text-warn">{t('slurmAction.jobs', { jobs: runningJobs.slice(0, 8).join(', ') })}</span>
            )}
          </li>
        ))}
      </ul>
      {preview.targetCount > SHOWN && (
        <p className="text-xs text-muted">{t('slurmAction.more', { count: preview.targetCount - SHOWN })}</p>
      )}
      {preview.commands.map((command) => (
        <code key={command} className="font-mono text-xs break-all text-faint">
          {command}
        </code>
      ))}
    </section>
  )
}

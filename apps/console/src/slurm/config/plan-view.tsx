import { formatList } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { ConfigDiff } from '../scale/config-diff.tsx'
import type { ConfigPreview } from './documents.ts'

const SHOWN = 20
const VALIDATION_TONES = { ACCEPTED: 'ok', REFUSED: 'bad', SKIPPED: 'warn' } as const

/** The first names, and how many follow. */
const namesOf = (names: readonly string[]): string =>
  names.length > SHOWN
    ? `${names.slice(0, SHOWN).join(', ')} ${t('slurmAction.more', { count: names.length - SHOWN })}`
    : formatList(names)

/** What a rollout does, in sentences, with the problems and the changed lines. `onLine` makes the problems links to their lines. */
export function PlanView({
  preview: { problems, plan, hosts, diff, validation },
  onLine,
}: {
  preview: ConfigPreview
  onLine?: (file: string, line: number) => void
}) {
  const { controllers, addedNodes, removedNodes, restartedNodes, lost } = plan
  const sentences = [
    controllers === 'NONE' ? t('slurmConfig.noChange') : t(`slurmControllerChange.${controllers}`),
    addedNodes.length > 0 && t('slurmConfig.addedNodes', { names: namesOf(addedNodes) }),
    removedNodes.length > 0 && t('slurmConfig.removedNodes', { names: namesOf(removedNodes) }),
    restartedNodes.length > 0 && t('slurmConfig.restartedNodes', { names: namesOf(restartedNodes) }),
    controllers !== 'NONE' && t('slurmConfig.hosts', { count: hosts.length, names: namesOf(hosts) }),
  ].filter((sentence) => sentence !== false)
  return (
    <div className="flex flex-col gap-3 text-sm">
      <section className="flex flex-col gap-1">
        <h3 className="text-xs font-medium text-muted">{t('slurmConfig.problems', { count: problems.length })}</h3>
        <ul
          className="flex max-h-60 flex-col gap-1 overflow-auto"
          aria-label={t('slurmConfig.problems', { count: problems.length })}
        >
          {problems.map(({ file, line, severity, message }) => (
            <li key={`${file} ${line} ${message}`} className="flex flex-wrap items-baseline gap-x-2">
              <State tone={severity === 'ERROR' ? 'bad' : 'warn'}>{t(`slurmConfigSeverity.${severity}`)}</State>
              {onLine && line !== null ? (
                <button type="button" className="font-mono text-xs underline" onClick={() => onLine(file, line)}>
                  {file}:{line}
                </button>
              ) : (
                <span className="font-mono text-xs">{line === null ? file : `${file}:${line}`}</span>
              )}
              <span className="w-full text-xs break-words text-muted">{message}</span>
            </li>
          ))}
        </ul>
      </section>
      {validation && (
        <section className="flex flex-col gap-1">
          <h3 className="text-xs font-medium text-muted">{t('slurmConfig.trial', { host: validation.host })}</h3>
          <p className="flex flex-wrap gap-x-3">
            <State tone={VALIDATION_TONES[validation.state]}>{t(`slurmConfigValidation.${validation.state}`)}</State>
            <span className="text-xs text-muted">
              <RelativeTime at={validation.validatedAt} />
            </span>
          </p>
          {validation.message && <p className="text-xs break-words whitespace-pre-line text-muted">{validation.message}</p>}
        </section>
      )}
      <section className="flex flex-col gap-1">
        <h3 className="text-xs font-medium text-muted">{t('slurmConfig.plan')}</h3>
        {sentences.map((sentence) => (
          <p key={sentence} className="break-words">
            {sentence}
          </p>
        ))}
        {lost.map((sentence) => (
          <p key={sentence} className="break-words text-warn">
            {sentence}
          </p>
        ))}
      </section>
      {diff.length > 0 && <ConfigDiff diff={diff} plan={null} />}
    </div>
  )
}

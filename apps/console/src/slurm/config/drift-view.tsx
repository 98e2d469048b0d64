import { t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import type { ClusterConfig } from './documents.ts'

/** The last comparison of the hosts with the version that was rolled out; hosts that differ first. */
export function DriftView({ config, number }: { config: ClusterConfig; number: number }) {
  const { configDrift, configCheckedAt } = config
  if (configDrift.length === 0)
    return <p className="text-sm text-muted">{t('slurmConfig.notCompared', { number: String(number) })}</p>
  const hosts = configDrift.toSorted((a, b) => Number(a.diff === null) - Number(b.diff === null))
  return (
    <section className="flex flex-col gap-2">
      <h3 className="flex flex-wrap gap-x-2 text-sm font-medium">
        {t('slurmConfig.drift', { number: String(number) })}
        {configCheckedAt && (
          <span className="text-xs font-normal text-muted">
            <RelativeTime at={configCheckedAt} />
          </span>
        )}
      </h3>
      <ul
        className="flex max-h-80 flex-col overflow-auto rounded-lg border border-line bg-panel"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls it
        tabIndex={0}
        aria-label={t('slurmConfig.drift', { number: String(number) })}
      >
        {hosts.map(({ host, diff }) => (
          <li key={host} className="flex flex-wrap items-baseline gap-x-3 gap-y-1 border-b border-line px-4 py-2 last:border-0">
            <span className="font-mono text-xs font-medium">{host}</span>
            <span className="ml-auto">
              <State tone={diff === null ? 'ok' : 'bad'}>{t(diff === null ? 'slurmConfig.same' : 'slurmConfig.differs')}</State>
            </span>
            {diff !== null && <pre className="w-full font-mono text-xs break-words whitespace-pre-wrap text-muted">{diff}</pre>}
          </li>
        ))}
      </ul>
    </section>
  )
}

import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Panel } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import type { AgentDetails } from './agent-documents.ts'
import { AgentState } from './badges.tsx'
import { evidenceText } from './evidence.ts'

/** State changes of an agent with their evidence, newest first. */
export function StateHistory({ transitions }: { transitions: AgentDetails['transitions'] }) {
  return (
    <Panel title={t('agent.stateHistory')} flush>
      {transitions.length === 0 ? (
        <p className="p-4 text-sm text-muted">{t('agent.noTransitions')}</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable for the keyboard to scroll it
        <ol className="max-h-96 overflow-auto" tabIndex={0} aria-label={t('agent.stateHistory')}>
          {transitions.map((transition) => (
            <li
              key={`${transition.at} ${transition.to}`}
              className="flex flex-col gap-0.5 border-b border-line px-4 py-2 text-sm last:border-0"
            >
              <div className="flex flex-wrap items-center gap-x-2">
                {transition.from && (
                  <>
                    <AgentState state={transition.from} />
                    <span className="text-faint" aria-hidden>
                      →
                    </span>
                  </>
                )}
                <AgentState state={transition.to} />
                <span className="ml-auto text-xs text-muted" title={formatDateTime(transition.at)}>
                  <RelativeTime at={transition.at} />
                </span>
              </div>
              <p className="text-xs text-muted">{t(`agentReason.${transition.reason}`)}</p>
              <p className="text-xs text-muted first-letter:uppercase">{evidenceText(transition.evidence)}</p>
            </li>
          ))}
        </ol>
      )}
    </Panel>
  )
}

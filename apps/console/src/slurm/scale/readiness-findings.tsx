import { t } from '@/messages/index.ts'
import { State } from '@/ui/badge.tsx'
import type { Readiness } from './documents.ts'

type Node = Readiness['nodes'][number]
const tones = { OK: 'ok', WARNING: 'warn', FAILED: 'bad' } as const
const styles = { OK: 'text-muted', WARNING: 'text-warn', FAILED: 'text-bad' }

/** The worst result of a node's checks. */
function resultOf({ isReady, checks }: Node): keyof typeof tones {
  if (!isReady) return 'FAILED'
  return checks?.some(({ state }) => state === 'WARNING') ? 'WARNING' : 'OK'
}

/** Whether a node can join, as the checks over SSH found. */
export function ReadinessState({ node }: { node: Node }) {
  if (!node.checks)
    return (
      <State tone="neutral" busy>
        {t('slurmScale.checking')}
      </State>
    )
  const result = resultOf(node)
  return <State tone={tones[result]}>{t(`slurmCheckState.${result}`)}</State>
}

/** The findings that need attention. */
export function ReadinessFindings({ node }: { node: Node }) {
  return (node.checks ?? [])
    .filter(({ state }) => state !== 'OK')
    .map(({ name, state, message }) => (
      <p key={`${name} ${message}`} className={`w-full text-xs break-words ${styles[state]}`}>
        {name}: {message}
      </p>
    ))
}

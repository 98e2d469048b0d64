import { t } from '@/messages/index.ts'
import { State, type Tone } from '@/ui/badge.tsx'
import type { ClusterSnippet } from './documents.ts'

const tones = {
  ROLLED_OUT: 'ok',
  PROPOSED: 'accent',
  NOT_APPLIED: 'warn',
  CONFLICT: 'bad',
  NOT_MANAGED: 'neutral',
} as const satisfies Record<ClusterSnippet['state'], Tone>

/** What the configuration of a cluster has of a snippet. */
export const SnippetState = ({ state }: Pick<ClusterSnippet, 'state'>) => (
  <State tone={tones[state]}>{t(`slurmSnippetState.${state}`)}</State>
)

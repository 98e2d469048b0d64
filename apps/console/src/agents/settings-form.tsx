'use client'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { NumberForm } from '@/ui/number-form.tsx'
import { type AgentSettings, UpdateAgentSettings } from './settings-documents.ts'

const parts = [
  {
    title: 'agentSettings.silence',
    fields: ['heartbeatIntervalSeconds', 'staleAfterSeconds', 'offlineAfterSeconds', 'deregisterAfterDays'],
  },
  { title: 'agentSettings.massOutage', fields: ['massOutagePercent', 'massOutageMinNodes'] },
] as const

/** Heartbeat interval and thresholds. */
export function AgentSettingsForm({ settings }: { settings: AgentSettings }) {
  const mutation = useMutation(UpdateAgentSettings)
  return (
    <NumberForm
      parts={parts.map(({ title, fields }) => ({
        title: t(title),
        fields: fields.map((name) => ({
          name,
          label: t(`agentSettings.${name}`),
          hint: t(`agentSettings.${name}Hint`),
          isOptional: name === 'deregisterAfterDays',
          blockedReason: settings.updateBlockedReason,
        })),
      }))}
      values={settings}
      savedText={t('agentSettings.saved')}
      save={async (input) => {
        const outcome = await mutation.run({ input })
        return outcome.ok ? outcome.value.agentSettings : null
      }}
      busy={mutation.busy}
      problem={mutation.problem}
      issueFor={(name) => issueFor(mutation.problem, name)}
    />
  )
}

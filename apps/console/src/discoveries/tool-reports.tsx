import { t } from '@/messages/index.ts'
import type { DiscoveryRow } from '@/nodes/documents.ts'
import { Badge, type Tone } from '@/ui/badge.tsx'

const tones: Record<DiscoveryRow['tools'][number]['state'], Tone> = {
  ABSENT: 'neutral',
  OK: 'ok',
  FAILED: 'bad',
  FOREIGN: 'warn',
  TIMED_OUT: 'bad',
}

/** The outcome of each vendor tool; a failed tool is distinct from one without devices. */
export function ToolReports({ discovery, all }: { discovery: DiscoveryRow; all?: boolean }) {
  const tools = all ? discovery.tools : discovery.tools.filter((tool) => tool.state !== 'ABSENT')
  if (tools.length === 0) return <span className="text-sm text-muted">{t('tools.none')}</span>
  return (
    <ul className="flex flex-col gap-1.5">
      {tools.map((tool) => (
        <li key={tool.tool} className="flex flex-wrap items-baseline gap-x-2 gap-y-0.5 text-sm">
          <code className="font-mono text-xs">{tool.tool.toLowerCase().replace('_', '-')}</code>
          <Badge tone={tones[tool.state]}>{t(`toolState.${tool.state}`)}</Badge>
          {tool.deviceCount !== null && tool.state === 'OK' && (
            <span className="text-muted">{t('tools.devices', { count: tool.deviceCount })}</span>
          )}
          {tool.version && <span className="text-xs text-faint">{tool.version}</span>}
          {tool.reason && <span className="basis-full text-xs text-muted">{tool.reason}</span>}
        </li>
      ))}
    </ul>
  )
}

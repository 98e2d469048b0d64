import { State } from '@/ui/badge.tsx'
import type { ClusterRow } from './documents.ts'

/** Controllers by host name, with whether each answers. */
export function ControllerNames({ controllers }: { controllers: ClusterRow['controllers'] }) {
  return (
    <span className="flex flex-wrap gap-x-4 gap-y-1">
      {controllers.map(({ role, hostname, isUp }) => (
        <State key={`${role} ${hostname}`} tone={isUp ? 'ok' : 'bad'}>
          <span className="font-mono text-xs">{hostname}</span>
          <span className="text-xs text-muted">{role}</span>
        </State>
      ))}
    </span>
  )
}

'use client'
import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { Menu, MenuItem } from '@/ui/menu.tsx'
import { ActionDialog } from './action-dialog.tsx'
import { ActionPermissionsQuery } from './documents.ts'
import { type Targets, type Verb, verbsOf } from './verbs.ts'

type Permissions = readonly { verb: Verb; blockedReason: string | null }[]

/** Why the caller cannot start an action with a verb; null when they can. */
export function useBlockedReason(clusterId: string, permissions?: Permissions): (verb: Verb) => string | null {
  const [{ data }] = useQuery({ query: ActionPermissionsQuery, variables: { id: clusterId }, pause: permissions !== undefined })
  const known = permissions ?? data?.slurmCluster?.actionPermissions
  const reasons = new Map(known?.map(({ verb, blockedReason }) => [verb, blockedReason]))
  return (verb) => reasons.get(verb) ?? null
}

/** The verbs for a kind of target. */
export function VerbMenu({
  label = t('slurmAction.actions'),
  kind,
  blockedReasonOf,
  onChoose,
}: {
  label?: string | undefined
  kind: Targets['kind']
  blockedReasonOf: (verb: Verb) => string | null
  onChoose: (verb: Verb) => void
}) {
  return (
    <Menu label={label} icon={<ChevronDown aria-hidden />} align="end">
      {verbsOf[kind].map((verb) => (
        <MenuItem key={verb} blockedReason={blockedReasonOf(verb)} onClick={() => onChoose(verb)}>
          {t(`slurmVerb.${verb}`)}
        </MenuItem>
      ))}
    </Menu>
  )
}

type Props = {
  label?: string
  clusterId: string
  targets: Targets
  /** Of a single target. Default: those of the cluster. */
  permissions?: Permissions
  onDone: () => void
}

/** The actions on the given targets in a cluster, with why the caller cannot run one. */
export function ActionMenu({ label, clusterId, targets, permissions, onDone }: Props) {
  const blockedReasonOf = useBlockedReason(clusterId, permissions)
  const [verb, setVerb] = useState<Verb | null>(null)
  return (
    <>
      <VerbMenu label={label} kind={targets.kind} blockedReasonOf={blockedReasonOf} onChoose={setVerb} />
      {verb && <ActionDialog clusterId={clusterId} verb={verb} targets={targets} onClose={() => setVerb(null)} onDone={onDone} />}
    </>
  )
}

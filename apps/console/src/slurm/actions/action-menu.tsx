'use client'
import { ChevronDown } from 'lucide-react'
import { useState } from 'react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { Menu, MenuItem } from '@/ui/menu.tsx'
import { ActionDialog } from './action-dialog.tsx'
import { ActionPermissionsQuery } from './documents.ts'
import { jobVerbs, nodeVerbs, partitionVerbs, type Targets, type Verb } from './verbs.ts'

const verbsOf = { nodes: nodeVerbs, jobs: jobVerbs, partitions: partitionVerbs } as const

type Props = {
  clusterId: string
  targets: Targets
  /** Of a single target. Default: those of the cluster. */
  permissions?: readonly { verb: Verb; blockedReason: string | null }[]
  onDone: () => void
}

/** The actions on the given nodes, jobs or partitions of a cluster, with why the caller cannot run one. */
export function ActionMenu({ clusterId, targets, permissions, onDone }: Props) {
  const [{ data }] = useQuery({ query: ActionPermissionsQuery, variables: { id: clusterId }, pause: permissions !== undefined })
  const [verb, setVerb] = useState<Verb | null>(null)
  const known = permissions ?? data?.slurmCluster?.actionPermissions
  const reasons = new Map(known?.map(({ verb, blockedReason }) => [verb, blockedReason]))
  return (
    <>
      <Menu label={t('slurmAction.actions')} icon={<ChevronDown aria-hidden />} align="end">
        {verbsOf[targets.kind].map((each) => (
          <MenuItem key={each} blockedReason={reasons.get(each) ?? null} onClick={() => setVerb(each)}>
            {t(`slurmVerb.${each}`)}
          </MenuItem>
        ))}
      </Menu>
      {verb && <ActionDialog clusterId={clusterId} verb={verb} targets={targets} onClose={() => setVerb(null)} onDone={onDone} />}
    </>
  )
}

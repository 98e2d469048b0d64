'use client'
import { useState } from 'react'
import { useNodeGroupChoices } from '@/access/grants/choices.ts'
import { issueFor, issuesWithin, otherIssues, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { useFindNodes } from '@/slurm/scale/use-find-nodes.ts'
import { Button } from '@/ui/button.tsx'
import { ChoiceField } from '@/ui/choice-field.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { CheckField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { AssignProfile, type Profile } from './documents.ts'

type Props = { profile: Pick<Profile, 'id' | 'name'>; onClose: () => void; onDone: () => void }

/** Assigns a profile to nodes, groups, all nodes or unknown machines. */
export function AssignDialog({ profile: { id, name }, onClose, onDone }: Props) {
  const assign = useMutation(AssignProfile)
  const findNodes = useFindNodes()
  const groups = useNodeGroupChoices()
  const [limit, setLimit] = useState('')
  const [groupIds, setGroupIds] = useState<string[]>([])
  const [allNodes, setAllNodes] = useState(false)
  const [unknownMachines, setUnknownMachines] = useState(false)
  const [priority, setPriority] = useState('')
  const [nodeProblem, setNodeProblem] = useState<string | null>(null)
  const isNothing = !limit.trim() && groupIds.length === 0 && !allNodes && !unknownMachines
  const isNumber = /^\d{0,6}$/.test(priority.trim())
  const blockedReason = isNothing ? t('bootProfile.needTarget') : isNumber ? null : t('bootProfile.needNumber')
  async function save() {
    setNodeProblem(null)
    const found = limit.trim() ? await findNodes(limit.trim()) : { ids: [] }
    if ('problem' in found) return setNodeProblem(found.problem)
    const targets = { nodeIds: found.ids, groupIds, allNodes, unknownMachines }
    const number = priority.trim() === '' ? null : Number(priority)
    const outcome = await assign.run({ input: { profileId: id, ...targets, priority: number } })
    if (!outcome.ok) return
    toast('ok', t('bootProfile.assigned', { name }))
    onDone()
    onClose()
  }
  const { problem } = assign
  const others = otherIssues(problem, ['nodeIds', 'groupIds', 'priority'])
  return (
    <Dialog
      title={t('bootProfile.assignTitle', { name })}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button variant="primary" busy={assign.busy} showReason blockedReason={blockedReason} onClick={() => void save()}>
            {t('bootProfile.assign')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <p className="text-sm text-muted">{t('bootProfile.assignText')}</p>
        {(problem?.issues.length === 0 || others.length > 0) && (
          <Notice tone="bad">{others.map(({ message }) => message).join(' ') || problem!.message}</Notice>
        )}
        <TextField
          label={t('nav.nodes')}
          optional
          mono
          hint={t('bootProfile.nodesHint')}
          value={limit}
          onChange={(event) => setLimit(event.target.value)}
          error={nodeProblem ?? issuesWithin(problem, 'nodeIds')}
        />
        <ChoiceField
          label={t('bootProfile.groups')}
          optional
          hint={t('bootProfile.groupsHint')}
          choices={groups.choices}
          value={groupIds}
          onChange={setGroupIds}
          error={groups.problem?.message ?? issuesWithin(problem, 'groupIds')}
        />
        <CheckField
          label={t('bootTarget.ALL_NODES')}
          hint={t('bootProfile.allNodesHint')}
          checked={allNodes}
          onChange={(event) => setAllNodes(event.target.checked)}
        />
        <CheckField
          label={t('bootTarget.UNKNOWN_MACHINES')}
          hint={t('bootProfile.unknownHint')}
          checked={unknownMachines}
          onChange={(event) => setUnknownMachines(event.target.checked)}
        />
        <TextField
          label={t('bootProfile.priority')}
          optional
          inputMode="numeric"
          placeholder="100"
          hint={t('bootProfile.priorityHint')}
          value={priority}
          onChange={(event) => setPriority(event.target.value)}
          error={issueFor(problem, 'priority')}
          className="max-w-48"
        />
      </div>
    </Dialog>
  )
}

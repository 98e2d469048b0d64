'use client'
import { useState } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { type Group, SetMembers } from './documents.ts'
import { messageOf } from './group-dialog.tsx'
import { MatchingNodesPreview } from './matching-nodes.tsx'
import { useMatchingNodes } from './use-matching-nodes.ts'

type Props = { group: Group; change: 'add' | 'remove'; onClose: () => void; onDone: () => void }

/** Adds the nodes of an expression to a group, or removes them. */
export function MembersDialog({ group: { id, name, exclusiveSet }, change, onClose, onDone }: Props) {
  const set = useMutation(SetMembers)
  const findNodes = useMatchingNodes()
  const [text, setText] = useState('')
  const [isFinding, setFinding] = useState(false)
  const [nodeProblem, setNodeProblem] = useState<string | null>(null)
  async function save() {
    setNodeProblem(null)
    setFinding(true)
    const found = await findNodes(text.trim())
    setFinding(false)
    if ('problem' in found) return setNodeProblem(found.problem)
    const nodeIds = change === 'add' ? { addNodeIds: found.ids } : { removeNodeIds: found.ids }
    const outcome = await set.run({ input: { id, ...nodeIds } })
    if (!outcome.ok) return
    toast('ok', t('group.hasNodes', { name, count: outcome.value.nodeGroup.nodeCount }))
    onClose()
    onDone()
  }
  const { problem } = set
  return (
    <Dialog
      title={t(change === 'add' ? 'group.addTitle' : 'group.removeTitle', { name })}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant="primary"
            busy={isFinding || set.busy}
            showReason
            blockedReason={text.trim() ? null : t('group.needNodes')}
            onClick={() => void save()}
          >
            {t(change === 'add' ? 'group.add' : 'group.remove')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {change === 'add' && exclusiveSet && <p className="text-sm text-muted">{t('group.setText', { set: exclusiveSet })}</p>}
        {problem && (
          <Notice tone="bad">
            <span className="whitespace-pre-line">{messageOf(problem)}</span>
          </Notice>
        )}
        <div className="flex flex-col gap-1">
          <TextField
            label={t('nav.nodes')}
            mono
            autoComplete="off"
            hint={t('group.nodesHint')}
            value={text}
            onChange={(event) => setText(event.target.value)}
            error={nodeProblem}
          />
          <MatchingNodesPreview kind="limit" text={text} />
        </div>
      </div>
    </Dialog>
  )
}

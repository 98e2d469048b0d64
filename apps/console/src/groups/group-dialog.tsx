'use client'
import { useState } from 'react'
import { useClient } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { issueFor, otherIssues, toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { CheckField, SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { CreateGroup, type Group, GroupByName, groupKinds, SetMembers, UpdateGroup } from './documents.ts'
import { MatchingNodesPreview } from './matching-nodes.tsx'
import { ParentField } from './parent-field.tsx'
import { useMatchingNodes } from './use-matching-nodes.ts'

const FIELDS = ['name', 'displayName', 'kind', 'priority', 'description', 'parentId', 'memberQuery', 'exclusiveSet', 'isSystem']

const formOf = (group: Group | null) => ({
  name: group?.name ?? '',
  displayName: group?.displayName ?? '',
  kind: group?.kind ?? ('AD_HOC' as const),
  priority: String(group?.priority ?? 100),
  description: group?.description ?? '',
  parent: group?.parent?.name ?? '',
  members: group?.memberQuery ? ('QUERY' as const) : ('LIST' as const),
  memberQuery: group?.memberQuery ?? '',
  nodes: '',
  exclusiveSet: group?.exclusiveSet ?? '',
  isSystem: group?.isSystem ?? false,
})

/** Finds the parent by its name. */
function useFindParent(): (name: string) => Promise<{ id: string | null } | { problem: string }> {
  const client = useClient()
  return async (name) => {
    if (!name) return { id: null }
    const { data, error } = await client.query(GroupByName, { name }, { requestPolicy: 'network-only' }).toPromise()
    if (error) return { problem: toProblem(error).message }
    return data?.nodeGroup ? { id: data.nodeGroup.id } : { problem: t('group.noSuchParent', { name }) }
  }
}

type Props = { group: Group | null; onClose: () => void; onDone: (id: string) => void }

/** Creates or changes a group. A new group can start with the nodes of an expression. */
export function GroupDialog({ group, onClose, onDone }: Props) {
  const create = useMutation(CreateGroup)
  const update = useMutation(UpdateGroup)
  const setMembers = useMutation(SetMembers)
  const findParent = useFindParent()
  const findNodes = useMatchingNodes()
  const setSystemBlocked = useBlockedReason('group:set_system')
  const [form, setForm] = useState(() => formOf(group))
  const [isFinding, setFinding] = useState(false)
  const [problems, setProblems] = useState<{ parent?: string; nodes?: string }>({})
  const change = (next: Partial<typeof form>) => setForm((before) => ({ ...before, ...next }))
  const isQuery = form.members === 'QUERY'
  const priority = /^\d{1,6}$/.test(form.priority.trim()) ? Number(form.priority) : null
  const blockedReason = !form.name.trim()
    ? t('group.needName')
    : priority === null
      ? t('bootProfile.needNumber')
      : isQuery && !form.memberQuery.trim()
        ? t('group.needQuery')
        : null

  /** Resolves the entered parent and nodes to IDs; null when one does not exist. */
  async function find() {
    setFinding(true)
    const parent = await findParent(form.parent.trim())
    const nodes = !isQuery && form.nodes.trim() ? await findNodes(form.nodes.trim()) : { ids: [] }
    setFinding(false)
    setProblems({
      ...('problem' in parent && { parent: parent.problem }),
      ...('problem' in nodes && { nodes: nodes.problem }),
    })
    return 'problem' in parent || 'problem' in nodes ? null : { parentId: parent.id, nodeIds: nodes.ids }
  }
  async function save() {
    const found = await find()
    if (!found) return
    const isSystem = form.isSystem === (group?.isSystem ?? false) ? {} : { isSystem: form.isSystem }
    const fields = {
      displayName: form.displayName.trim() || null,
      kind: form.kind,
      priority,
      description: form.description,
      parentId: found.parentId,
      memberQuery: isQuery ? form.memberQuery.trim() : null,
      exclusiveSet: isQuery ? null : form.exclusiveSet.trim() || null,
      ...isSystem,
    }
    const name = form.name.trim()
    const outcome = group
      ? await update.run({ input: { id: group.id, ...(name === group.name ? {} : { name }), ...fields } })
      : await create.run({ input: { name, ...fields } })
    if (!outcome.ok) return
    const { id } = outcome.value.nodeGroup
    const added = found.nodeIds.length > 0 ? await setMembers.run({ input: { id, addNodeIds: found.nodeIds } }) : null
    // The group exists now; its page offers to add nodes again.
    if (added && !added.ok) toast('bad', t('group.noMembersAdded', { name, message: messageOf(added.problem) }))
    else toast('ok', t(group ? 'group.saved' : 'group.created', { name }))
    onClose()
    onDone(id)
  }
  const { problem } = group ? update : create
  const error = (path: string) => issueFor(problem, path)
  const others = otherIssues(problem, FIELDS)
  return (
    <Dialog
      title={group ? t('group.editTitle', { name: group.name }) : t('group.new')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant="primary"
            busy={isFinding || create.busy || update.busy || setMembers.busy}
            showReason
            blockedReason={blockedReason}
            onClick={() => void save()}
          >
            {t(group ? 'common.save' : 'group.create')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {(problem?.issues.length === 0 || others.length > 0) && (
          <Notice tone="bad">{others.map(({ message }) => message).join(' ') || problem!.message}</Notice>
        )}
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={t('group.name')}
            mono
            autoComplete="off"
            maxLength={64}
            disabled={Boolean(group?.renameBlockedReason)}
            hint={group?.renameBlockedReason ?? t('group.nameHint')}
            value={form.name}
            onChange={(event) => change({ name: event.target.value })}
            error={error('name')}
          />
          <TextField
            label={t('group.displayName')}
            optional
            maxLength={128}
            value={form.displayName}
            onChange={(event) => change({ displayName: event.target.value })}
            error={error('displayName')}
          />
          <SelectField
            label={t('group.kind')}
            value={form.kind}
            onChange={(event) => change({ kind: event.target.value as typeof form.kind })}
            error={error('kind')}
            hint={t(`groupKindHint.${form.kind}`)}
          >
            {groupKinds.map((kind) => (
              <option key={kind} value={kind}>
                {t(`groupKind.${kind}`)}
              </option>
            ))}
          </SelectField>
          <TextField
            label={t('group.priority')}
            inputMode="numeric"
            hint={t('group.priorityHint')}
            value={form.priority}
            onChange={(event) => change({ priority: event.target.value })}
            error={error('priority')}
          />
        </div>
        <TextAreaField
          label={t('group.description')}
          optional
          rows={2}
          maxLength={2000}
          value={form.description}
          onChange={(event) => change({ description: event.target.value })}
          error={error('description')}
        />
        <ParentField
          value={form.parent}
          own={group?.name}
          onChange={(parent) => change({ parent })}
          error={problems.parent ?? error('parentId')}
        />
        <SelectField
          label={t('group.membership')}
          value={form.members}
          onChange={(event) => change({ members: event.target.value as typeof form.members })}
        >
          <option value="LIST">{t('group.byList')}</option>
          <option value="QUERY">{t('group.byQuery')}</option>
        </SelectField>
        {isQuery ? (
          <div className="flex flex-col gap-1">
            <TextField
              label={t('group.query')}
              mono
              autoComplete="off"
              placeholder={t('group.queryExample')}
              hint={t('group.queryHint')}
              value={form.memberQuery}
              onChange={(event) => change({ memberQuery: event.target.value })}
              error={error('memberQuery')}
            />
            <MatchingNodesPreview kind="query" text={form.memberQuery} />
          </div>
        ) : (
          <>
            {error('memberQuery') && <Notice tone="bad">{error('memberQuery')!}</Notice>}
            {!group && (
              <div className="flex flex-col gap-1">
                <TextField
                  label={t('nav.nodes')}
                  optional
                  mono
                  autoComplete="off"
                  hint={t('group.nodesHint')}
                  value={form.nodes}
                  onChange={(event) => change({ nodes: event.target.value })}
                  error={problems.nodes}
                />
                <MatchingNodesPreview kind="limit" text={form.nodes} />
              </div>
            )}
            <TextField
              label={t('group.set')}
              optional
              autoComplete="off"
              maxLength={64}
              hint={t('group.setHint')}
              value={form.exclusiveSet}
              onChange={(event) => change({ exclusiveSet: event.target.value })}
              error={error('exclusiveSet')}
            />
          </>
        )}
        {(setSystemBlocked === null || form.isSystem) && (
          <CheckField
            label={t('group.system')}
            hint={setSystemBlocked ?? t('group.systemHint')}
            disabled={setSystemBlocked !== null}
            checked={form.isSystem}
            onChange={(event) => change({ isSystem: event.target.checked })}
          />
        )}
      </div>
    </Dialog>
  )
}

/** Maximum number of reasons to show. */
const MAX_REASONS = 5

/** Why nodes could not be added or removed: the reason for each node, or the reason for all. */
export function messageOf({ issues, message }: { issues: readonly { message: string }[]; message: string }): string {
  const reasons = [...new Set(issues.map((issue) => issue.message))]
  if (reasons.length === 0) return message
  const shown = reasons.slice(0, MAX_REASONS)
  return reasons.length > shown.length
    ? `${shown.join('\n')}\n${t('group.andMore', { count: String(reasons.length - shown.length) })}`
    : shown.join('\n')
}

import { useState } from 'react'
import { issueFor, issuesWithin, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { type Choice, ChoiceField } from '@/ui/choice-field.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SelectField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { RoleField } from '../role-field.tsx'
import { useCredentialChoices, useMemberChoices, useNodeGroupChoices, useTemplateChoices } from './choices.ts'
import { CreateGrant } from './grant-documents.ts'

/** A select of one of `choices`, first empty. */
function ChoiceSelect({
  label,
  choices,
  value,
  error,
  onChange,
}: {
  label: string
  choices: Choice[]
  value: string
  error: string | undefined
  onChange: (id: string) => void
}) {
  return (
    <SelectField label={label} value={value} error={error} onChange={(event) => onChange(event.target.value)}>
      <option value="">{t('grants.choose')}</option>
      {choices.map((choice) => (
        <option key={choice.id} value={choice.id}>
          {choice.label}
        </option>
      ))}
    </SelectField>
  )
}

/** Creates a grant. */
export function GrantDialog({ onClose, onSaved }: { onClose: () => void; onSaved: () => void }) {
  const create = useMutation(CreateGrant)
  const members = useMemberChoices()
  const groups = useNodeGroupChoices()
  const templates = useTemplateChoices()
  const credentials = useCredentialChoices()
  const [memberId, setMemberId] = useState('')
  const [role, setRole] = useState('operator')
  const [nodeGroupId, setNodeGroupId] = useState('')
  const [templateIds, setTemplateIds] = useState<string[]>([])
  const [credentialIds, setCredentialIds] = useState<string[]>([])
  const { busy, problem } = create
  const loadProblem = [members, groups, templates, credentials].find((list) => list.problem)?.problem
  const blockedReason = memberId ? (nodeGroupId ? null : t('grants.needGroup')) : t('grants.needMember')
  async function save() {
    const limits = {
      ...(templateIds.length > 0 && { jobTemplateIds: templateIds }),
      ...(credentialIds.length > 0 && { credentialIds }),
    }
    if (!(await create.run({ input: { memberId, role, nodeGroupId, ...limits } })).ok) return
    onSaved()
    onClose()
  }
  return (
    <Dialog
      wide
      title={t('grants.new')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button variant="primary" busy={busy} showReason blockedReason={blockedReason} onClick={() => void save()}>
            {t('grants.create')}
          </Button>
        </>
      }
    >
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          if (!blockedReason && !busy) void save()
        }}
      >
        {loadProblem && <Notice tone="bad">{loadProblem.message}</Notice>}
        {problem && problem.issues.length === 0 && <Notice tone="bad">{problem.message}</Notice>}
        <ChoiceSelect
          label={t('grants.member')}
          choices={members.choices}
          value={memberId}
          error={issueFor(problem, 'memberId')}
          onChange={setMemberId}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <RoleField value={role} hint={t('grants.roleHint')} error={issueFor(problem, 'role')} onChange={setRole} />
          <ChoiceSelect
            label={t('grants.nodeGroup')}
            choices={groups.choices}
            value={nodeGroupId}
            error={issueFor(problem, 'nodeGroupId')}
            onChange={setNodeGroupId}
          />
          <ChoiceField
            label={t('grants.templates')}
            hint={t('grants.templatesHint')}
            optional
            choices={templates.choices}
            value={templateIds}
            error={issuesWithin(problem, 'jobTemplateIds')}
            onChange={setTemplateIds}
          />
          <ChoiceField
            label={t('grants.credentials')}
            hint={t('grants.credentialsHint')}
            optional
            choices={credentials.choices}
            value={credentialIds}
            error={issuesWithin(problem, 'credentialIds')}
            onChange={setCredentialIds}
          />
        </div>
      </form>
    </Dialog>
  )
}

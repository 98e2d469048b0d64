import { useState } from 'react'
import { issueFor, issuesWithin, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { type Choice, ChoiceField } from '@/ui/choice-field.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SelectField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { RoleField } from '../role-field.tsx'
import {
  useClusterChoices,
  useCredentialChoices,
  useMemberChoices,
  useNodeGroupChoices,
  usePartitionChoices,
  useTemplateChoices,
} from './choices.ts'
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

/** Some partitions of a cluster. */
function PartitionField({
  clusterId,
  value,
  error,
  onChange,
}: {
  clusterId: string
  value: string[]
  error: string | undefined
  onChange: (names: string[]) => void
}) {
  const { choices, problem } = usePartitionChoices(clusterId)
  return (
    <ChoiceField
      label={t('grants.partitions')}
      hint={t('grants.partitionsHint')}
      optional
      choices={choices}
      value={value}
      error={error ?? problem?.message}
      onChange={onChange}
    />
  )
}

/** Creates a grant. */
export function GrantDialog({ onClose, onSaved }: { onClose: () => void; onSaved: () => void }) {
  const create = useMutation(CreateGrant)
  const members = useMemberChoices()
  const groups = useNodeGroupChoices()
  const templates = useTemplateChoices()
  const credentials = useCredentialChoices()
  const clusters = useClusterChoices()
  const [memberId, setMemberId] = useState('')
  const [role, setRole] = useState('operator')
  const [nodeGroupId, setNodeGroupId] = useState('')
  const [templateIds, setTemplateIds] = useState<string[]>([])
  const [credentialIds, setCredentialIds] = useState<string[]>([])
  const [scope, setScope] = useState<'group' | 'cluster'>('group')
  const [slurmClusterId, setClusterId] = useState('')
  const [partitions, setPartitions] = useState<string[]>([])
  const { busy, problem } = create
  const loadProblem = [members, groups, templates, credentials, clusters].find((list) => list.problem)?.problem
  const ofGroup = scope === 'group'
  const needScope = ofGroup ? !nodeGroupId && t('grants.needGroup') : !slurmClusterId && t('grants.needCluster')
  const blockedReason = memberId ? needScope || null : t('grants.needMember')
  async function save() {
    const limits = ofGroup
      ? {
          nodeGroupId,
          ...(templateIds.length > 0 && { jobTemplateIds: templateIds }),
          ...(credentialIds.length > 0 && { credentialIds }),
        }
      : { slurmClusterId, ...(partitions.length > 0 && { partitions }) }
    if (!(await create.run({ input: { memberId, role, ...limits } })).ok) return
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
          <RoleField
            value={role}
            hint={t(ofGroup ? 'grants.roleHint' : 'grants.clusterRoleHint')}
            error={issueFor(problem, 'role')}
            onChange={setRole}
          />
          <SelectField
            label={t('grants.scope')}
            value={scope}
            onChange={(event) => setScope(event.target.value === 'cluster' ? 'cluster' : 'group')}
          >
            <option value="group">{t('grants.nodeGroup')}</option>
            <option value="cluster">{t('grants.cluster')}</option>
          </SelectField>
          {ofGroup ? (
            <>
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
            </>
          ) : (
            <>
              <ChoiceSelect
                label={t('grants.cluster')}
                choices={clusters.choices}
                value={slurmClusterId}
                error={issueFor(problem, 'slurmClusterId')}
                onChange={(id) => {
                  setClusterId(id)
                  setPartitions([])
                }}
              />
              {slurmClusterId && (
                <PartitionField
                  clusterId={slurmClusterId}
                  value={partitions}
                  error={issuesWithin(problem, 'partitions')}
                  onChange={setPartitions}
                />
              )}
            </>
          )}
        </div>
      </form>
    </Dialog>
  )
}

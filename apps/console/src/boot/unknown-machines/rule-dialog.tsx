'use client'
import { useState } from 'react'
import { useNodeGroupChoices } from '@/access/grants/choices.ts'
import { issueFor, issuesWithin, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { CheckField, SelectField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { useProfiles } from '../profiles/use-profiles.ts'
import { CreateBootRule, type Rule, UpdateBootRule } from './documents.ts'

const LISTS = ['macPrefixes', 'interfaceMacPrefixes', 'serials', 'systemUuids'] as const
const ARCHES = ['x86_64', 'aarch64'] as const
const listOf = (text: string) => text.split(/[\s,]+/).filter(Boolean)

const formOf = (rule: Rule | null) => ({
  name: rule?.name ?? '',
  ...(Object.fromEntries(LISTS.map((field) => [field, rule?.[field]?.join(', ') ?? ''])) as Record<
    (typeof LISTS)[number],
    string
  >),
  arch: rule?.arch ?? '',
  names: rule?.names ?? '',
  groupId: rule?.group?.id ?? '',
  profileId: rule?.profile?.id ?? '',
  priority: String(rule?.priority ?? 100),
  maxAccepted: String(rule?.maxAccepted ?? 100),
  isEnabled: rule?.isEnabled ?? true,
})

/** Creates or changes a rule that accepts unknown machines. */
export function RuleDialog({ rule, onClose }: { rule: Rule | null; onClose: (isSaved: boolean) => void }) {
  const create = useMutation(CreateBootRule)
  const update = useMutation(UpdateBootRule)
  const { problem, busy } = rule ? update : create
  const groups = useNodeGroupChoices()
  const profiles = useProfiles()
  const [form, setForm] = useState(() => formOf(rule))
  const change = (part: Partial<typeof form>) => setForm((before) => ({ ...before, ...part }))

  async function save() {
    const input = {
      ...(Object.fromEntries(LISTS.map((field) => [field, listOf(form[field])])) as Record<(typeof LISTS)[number], string[]>),
      arch: ARCHES.find((each) => each === form.arch) ?? null,
      names: form.names.trim(),
      groupId: form.groupId || null,
      profileId: form.profileId || null,
      priority: Number(form.priority),
      maxAccepted: Number(form.maxAccepted),
      isEnabled: form.isEnabled,
    }
    const outcome = rule
      ? await update.run({ input: { id: rule.id, ...input } })
      : await create.run({ input: { name: form.name.trim(), ...input } })
    if (!outcome.ok) return
    toast('ok', t('bootRule.saved', { name: rule?.name ?? form.name.trim() }))
    onClose(true)
  }

  const isNumbers = /^\d{1,6}$/.test(form.priority) && /^\d{1,6}$/.test(form.maxAccepted)
  const isFilled = form.name.trim() !== '' && form.names.trim() !== ''
  const blockedReason = !isFilled ? t('bootRule.missing') : isNumbers ? null : t('bootRule.needNumbers')
  return (
    <Dialog
      title={rule ? t('bootRule.editTitle', { name: rule.name }) : t('bootRule.new')}
      onClose={() => onClose(false)}
      footer={
        <>
          <Button onClick={() => onClose(false)}>{t('common.cancel')}</Button>
          <Button variant="primary" busy={busy} showReason blockedReason={blockedReason} onClick={() => void save()}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <p className="text-sm text-muted">{t('bootRule.dialogText')}</p>
        {problem && problem.issues.length === 0 && <Notice tone="bad">{problem.message}</Notice>}
        {!rule && (
          <TextField
            label={t('bootRule.name')}
            value={form.name}
            onChange={(event) => change({ name: event.target.value })}
            error={issueFor(problem, 'name')}
            autoComplete="off"
          />
        )}
        {LISTS.map((field) => (
          <TextField
            key={field}
            label={t(`bootRule.${field}`)}
            hint={t(`bootRule.${field}Hint`)}
            value={form[field]}
            onChange={(event) => change({ [field]: event.target.value })}
            error={issuesWithin(problem, field)}
            optional
            mono
            autoComplete="off"
          />
        ))}
        <SelectField
          label={t('bootField.arch')}
          optional
          value={form.arch}
          onChange={(event) => change({ arch: event.target.value })}
        >
          <option value="">{t('bootProfile.anyArch')}</option>
          {ARCHES.map((arch) => (
            <option key={arch}>{arch}</option>
          ))}
        </SelectField>
        <TextField
          label={t('bootRule.names')}
          hint={t('bootRule.namesHint')}
          value={form.names}
          onChange={(event) => change({ names: event.target.value })}
          error={issueFor(problem, 'names')}
          mono
          autoComplete="off"
        />
        <SelectField
          label={t('bootRule.group')}
          optional
          value={form.groupId}
          onChange={(event) => change({ groupId: event.target.value })}
          error={groups.problem?.message ?? issueFor(problem, 'groupId')}
        >
          <option value="">{t('bootProfile.noParent')}</option>
          {groups.choices.map(({ id, label }) => (
            <option key={id} value={id}>
              {label}
            </option>
          ))}
        </SelectField>
        <SelectField
          label={t('bootProfile.one')}
          optional
          value={form.profileId}
          onChange={(event) => change({ profileId: event.target.value })}
          error={issueFor(problem, 'profileId')}
        >
          <option value="">{t('bootProfile.noParent')}</option>
          {profiles.rows.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </SelectField>
        <div className="flex flex-wrap gap-4">
          <TextField
            label={t('bootProfile.priority')}
            hint={t('bootRule.priorityHint')}
            inputMode="numeric"
            value={form.priority}
            onChange={(event) => change({ priority: event.target.value })}
            error={issueFor(problem, 'priority')}
            className="min-w-40 flex-1"
          />
          <TextField
            label={t('bootRule.max')}
            hint={t('bootRule.maxHint')}
            inputMode="numeric"
            value={form.maxAccepted}
            onChange={(event) => change({ maxAccepted: event.target.value })}
            error={issueFor(problem, 'maxAccepted')}
            className="min-w-40 flex-1"
          />
        </div>
        <CheckField
          label={t('bootRule.enabled')}
          checked={form.isEnabled}
          onChange={(event) => change({ isEnabled: event.target.checked })}
        />
      </div>
    </Dialog>
  )
}

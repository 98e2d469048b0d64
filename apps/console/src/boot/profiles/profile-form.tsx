'use client'
import type { ReactNode } from 'react'
import { useQuery } from 'urql'
import { issueFor, issuesWithin, otherIssues, type Problem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { CheckField, SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { useInvalidFocus } from '@/ui/hooks/use-invalid-focus.ts'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { type Origin, ProfileQuery } from './documents.ts'
import type { FormValues } from './form-values.ts'
import { useProfiles } from './use-profiles.ts'
import { FIELDS, fieldLabel, inheritedText } from './values.tsx'

type Props = {
  form: FormValues
  onChange: (change: Partial<FormValues>) => void
  problem: Problem | null
  /** The profile itself cannot be its parent. */
  own: string | null
  busy: boolean
  blockedReason: string | null
  onSave: () => void
  /** Above the fields: the name of a new profile. */
  children?: ReactNode
}

/** What the chosen parent resolves to. */
function useInherited(parentId: string, profiles: { id: string; name: string }[]): readonly Origin[] {
  const name = profiles.find(({ id }) => id === parentId)?.name
  const [{ data }] = useQuery({ query: ProfileQuery, variables: { name: name ?? '' }, pause: name === undefined })
  return (name !== undefined && data?.bootProfile?.name === name && data.bootProfile.resolved.origins) || []
}

const ARCHES = ['x86_64', 'aarch64'] as const
const SHOWN = [...FIELDS.filter((field) => field !== 'parent'), 'parentId', 'comment', 'name']

/** The fields of a boot profile. Empty fields show what they inherit. */
export function ProfileForm({ form, onChange, problem, own, busy, blockedReason, onSave, children }: Props) {
  const list = useProfiles()
  const parents = list.rows.filter(({ name }) => name !== own)
  const origins = useInherited(form.parentId, parents)
  const others = otherIssues(problem, SHOWN)
  const fields = useInvalidFocus<HTMLDivElement>(problem)

  type Text = Exclude<keyof FormValues, 'noInitrds' | 'parentId' | 'comment' | 'arch'>
  const fieldOf = (name: Text, { isAdded = false, hint = '' } = {}) => {
    const inherited = name === 'description' ? null : inheritedText(origins, name)
    const source = inherited && t(isAdded ? 'bootProfile.addedTo' : 'bootProfile.inheritedFrom', { name: inherited.from })
    return {
      label: fieldLabel(name),
      value: form[name],
      onChange: (event: { target: { value: string } }) => onChange({ [name]: event.target.value }),
      placeholder: inherited?.text,
      hint: [hint, source].filter(Boolean).join(' '),
      error: issuesWithin(problem, name),
    }
  }
  const arch = inheritedText(origins, 'arch')
  return (
    <div ref={fields} className="flex flex-col gap-4">
      <Panel title={t('bootProfile.general')}>
        <div className="grid gap-4 sm:grid-cols-2">
          {children}
          <SelectField
            label={fieldLabel('parent')}
            hint={t('bootProfile.parentHint')}
            value={form.parentId}
            onChange={(event) => onChange({ parentId: event.target.value })}
            error={issueFor(problem, 'parentId')}
          >
            <option value="">{t('bootProfile.noParent')}</option>
            {parents.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </SelectField>
          <SelectField
            label={fieldLabel('arch')}
            hint={arch ? t('bootProfile.inheritedFrom', { name: arch.from }) : t('bootProfile.archHint')}
            value={form.arch}
            onChange={(event) => onChange({ arch: event.target.value as FormValues['arch'] })}
            error={issueFor(problem, 'arch')}
          >
            <option value="">{arch ? arch.text : t('bootProfile.anyArch')}</option>
            {ARCHES.map((arch) => (
              <option key={arch} value={arch}>
                {arch}
              </option>
            ))}
          </SelectField>
          <TextField {...fieldOf('description')} optional maxLength={2000} />
        </div>
      </Panel>
      <Panel title={t('bootProfile.files')}>
        <div className="flex flex-col gap-4">
          <TextField {...fieldOf('kernel', { hint: t('bootProfile.imageHint') })} mono />
          <TextAreaField
            {...fieldOf('initrds', { hint: t('bootProfile.initrdsHint') })}
            mono
            rows={2}
            disabled={form.noInitrds}
          />
          <CheckField
            label={t('bootProfile.noInitrds')}
            checked={form.noInitrds}
            onChange={(event) => onChange({ noInitrds: event.target.checked })}
          />
          <TextField {...fieldOf('rootImage')} mono />
          <TextAreaField {...fieldOf('kernelParams', { isAdded: true, hint: t('bootProfile.paramsHint') })} mono rows={4} />
        </div>
      </Panel>
      <Panel title={t('bootProfile.access')}>
        <div className="flex flex-col gap-4">
          <TextField {...fieldOf('adminUser', { hint: t('bootProfile.adminHint') })} mono className="sm:max-w-xs" />
          <TextAreaField {...fieldOf('sshKeys', { isAdded: true, hint: t('bootProfile.keysHint') })} mono rows={3} />
        </div>
      </Panel>
      <Panel title={t('bootProfile.cloudInit')}>
        <div className="flex flex-col gap-4">
          <p className="text-sm text-muted">{t('bootProfile.noSecrets')}</p>
          <TextAreaField {...fieldOf('userData', { isAdded: true })} mono rows={8} />
          <TextAreaField {...fieldOf('vendorData', { isAdded: true })} mono rows={3} />
          <TextAreaField {...fieldOf('networkConfig')} mono rows={4} />
        </div>
      </Panel>
      {problem && (problem.issues.length === 0 || others.length > 0) && (
        <Notice tone="bad">{others.map(({ message }) => message).join(' ') || problem.message}</Notice>
      )}
      <div className="flex flex-col gap-3 sm:flex-row sm:items-end">
        <TextField
          label={t('bootProfile.comment')}
          optional
          className="flex-1"
          maxLength={1000}
          value={form.comment}
          onChange={(event) => onChange({ comment: event.target.value })}
          error={issueFor(problem, 'comment')}
        />
        <Button variant="primary" busy={busy} showReason blockedReason={blockedReason} onClick={onSave}>
          {t('common.save')}
        </Button>
      </div>
    </div>
  )
}

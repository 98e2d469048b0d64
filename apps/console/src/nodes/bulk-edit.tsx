'use client'
import { useState } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { SelectField, TextField } from '@/ui/field.tsx'
import { type Access, AccessFields } from './access-fields.tsx'
import { BulkDialog } from './bulk-dialog.tsx'
import { nodeTypes, parseTags } from './edit-dialog.tsx'
import { type NodeHead, UpdateNode } from './node-documents.ts'

const unchanged = {
  addTags: '',
  removeTags: '',
  nodeType: 'keep',
  credentialId: 'keep',
  becomeCredentialId: 'keep',
  bastionId: 'keep',
  sshUser: '',
}

/** Edits selected fields of many nodes. */
export function BulkEdit({ ids, onClose }: { ids: string[]; onClose: () => void }) {
  const update = useMutation(UpdateNode)
  const [form, setForm] = useState(unchanged)
  const set = (key: keyof typeof form) => (value: string) => setForm((before) => ({ ...before, [key]: value }))
  const reference = (key: keyof Access) => (form[key] === 'keep' ? {} : { [key]: form[key] || null })
  const isChanged = Object.entries(unchanged).some(([key, value]) => form[key as keyof typeof form].trim() !== value)
  const [add, remove] = [parseTags(form.addTags), parseTags(form.removeTags)]
  return (
    <BulkDialog
      ids={ids}
      title={t('bulk.editTitle', { count: ids.length })}
      action={t('common.save')}
      blockedReason={isChanged ? null : t('bulk.nothing')}
      onClose={onClose}
      send={({ id, tags }) =>
        update.run({
          input: {
            id,
            ...(add.length + remove.length > 0 && {
              tags: [...new Set([...tags, ...add])].filter((tag) => !remove.includes(tag)),
            }),
            ...(form.nodeType !== 'keep' && { nodeType: form.nodeType as NodeHead['nodeType'] }),
            ...(form.sshUser.trim() && { sshUser: form.sshUser.trim() }),
            ...reference('credentialId'),
            ...reference('becomeCredentialId'),
            ...reference('bastionId'),
          },
        })
      }
    >
      <p className="text-muted">{t('bulk.editText')}</p>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t('bulk.addTags')}
          optional
          value={form.addTags}
          onChange={(event) => set('addTags')(event.target.value)}
          hint={t('node.tagsHint')}
        />
        <TextField
          label={t('bulk.removeTags')}
          optional
          value={form.removeTags}
          onChange={(event) => set('removeTags')(event.target.value)}
          hint={t('node.tagsHint')}
        />
        <AccessFields keep={t('bulk.noChange')} value={form} onChange={(key, id) => set(key)(id)} />
        <SelectField label={t('node.type')} value={form.nodeType} onChange={(event) => set('nodeType')(event.target.value)}>
          <option value="keep">{t('bulk.noChange')}</option>
          {nodeTypes.map((type) => (
            <option key={type} value={type}>
              {t(`nodeType.${type}`)}
            </option>
          ))}
        </SelectField>
        <TextField
          label={t('node.user')}
          mono
          optional
          value={form.sshUser}
          onChange={(event) => set('sshUser')(event.target.value)}
          hint={t('bulk.userHint')}
        />
      </div>
    </BulkDialog>
  )
}

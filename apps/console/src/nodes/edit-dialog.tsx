'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { ConnectionFields, PlaceFields } from './connection-fields.tsx'
import { InterfaceFields, interfaceForms, interfacesInput } from './interface-fields.tsx'
import { LocationFields, locationInput } from './location-fields.tsx'
import { type NodeHead, UpdateNode } from './node-documents.ts'

export const nodeTypes = ['COMPUTE', 'LOGIN', 'CONTROLLER', 'STORAGE', 'OTHER'] as const

/** Parses `key=value` pairs separated by lines or commas; without `=` the value is empty. */
export function parseLabels(text: string): { key: string; value: string }[] {
  const pairs = text.split(/[\n,]/).flatMap((line): [string, string][] => {
    const [key, ...value] = line.split('=')
    return key?.trim() ? [[key.trim(), value.join('=').trim()]] : []
  })
  return [...new Map(pairs)].map(([key, value]) => ({ key, value }))
}

export function parseTags(text: string): string[] {
  return [...new Set(text.split(/[\s,]+/).filter(Boolean))]
}

/** Edits a node. Validation errors of the server appear at their field. */
export function EditDialog({ node, onClose }: { node: NodeHead; onClose: () => void }) {
  const mutation = useMutation(UpdateNode)
  const [form, setForm] = useState({
    name: node.name,
    displayName: node.displayName ?? '',
    host: node.host,
    port: String(node.port),
    sshUser: node.sshUser ?? '',
    connectionType: node.connectionType,
    nodeType: node.nodeType,
    region: node.region ?? '',
    datacenter: node.datacenter ?? '',
    rack: node.rack ?? '',
    rackPosition: node.rackPosition ?? '',
    xname: node.xname ?? '',
    nid: node.nid === null ? '' : String(node.nid),
    managementIp: node.managementIp ?? '',
    interfaces: interfaceForms(node.interfaces),
    tags: node.tags.join(', '),
    labels: node.labels.map(({ key, value }) => `${key}=${value}`).join('\n'),
    notes: node.notes,
    credentialId: node.credential?.id ?? '',
    becomeCredentialId: node.becomeCredential?.id ?? '',
    bastionId: node.bastion?.id ?? '',
  })
  const change = (values: Partial<typeof form>) => setForm((before) => ({ ...before, ...values }))
  const set = (key: Exclude<keyof typeof form, 'interfaces'>) => (event: { target: { value: string } }) =>
    setForm((before) => ({ ...before, [key]: event.target.value }))
  async function save() {
    const outcome = await mutation.run({
      input: {
        id: node.id,
        name: form.name,
        displayName: form.displayName || null,
        host: form.host,
        connectionType: form.connectionType,
        nodeType: form.nodeType,
        region: form.region || null,
        datacenter: form.datacenter || null,
        ...locationInput(form),
        interfaces: interfacesInput(form.interfaces),
        tags: parseTags(form.tags),
        labels: parseLabels(form.labels),
        notes: form.notes,
        becomeCredentialId: form.becomeCredentialId || null,
        ...(form.connectionType === 'SSH'
          ? {
              port: Number(form.port),
              sshUser: form.sshUser || null,
              credentialId: form.credentialId || null,
              bastionId: form.bastionId || null,
            }
          : // A hidden reference would block deletion of the credential.
            { sshUser: null, credentialId: null, bastionId: null }),
      },
    })
    if (!outcome.ok) return
    toast('ok', t('node.saved', { name: form.name }))
    onClose()
  }
  const error = (path: string) => issueFor(mutation.problem, path)
  return (
    <Dialog
      wide
      title={t('node.editTitle', { name: node.name })}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button variant="primary" busy={mutation.busy} onClick={() => void save()}>
            {t('common.save')}
          </Button>
        </>
      }
    >
      <form
        className="grid gap-4 sm:grid-cols-2"
        onSubmit={(event) => {
          event.preventDefault()
          void save()
        }}
      >
        {mutation.problem && (
          <div className="sm:col-span-2">
            <Notice tone="bad">{mutation.problem.message}</Notice>
          </div>
        )}
        <TextField label={t('nodes.name')} mono value={form.name} onChange={set('name')} error={error('name')} />
        <TextField
          label={t('node.displayName')}
          optional
          value={form.displayName}
          onChange={set('displayName')}
          error={error('displayName')}
        />
        <TextField label={t('node.host')} mono value={form.host} onChange={set('host')} error={error('host')} />
        <ConnectionFields value={form} onChange={change} error={error} />
        <SelectField
          label={t('node.type')}
          value={form.nodeType}
          onChange={(event) => change({ nodeType: event.target.value as NodeHead['nodeType'] })}
        >
          {nodeTypes.map((type) => (
            <option key={type} value={type}>
              {t(`nodeType.${type}`)}
            </option>
          ))}
        </SelectField>
        <PlaceFields value={form} onChange={change} error={error} />
        <LocationFields value={form} onChange={change} error={error} />
        <InterfaceFields value={form.interfaces} onChange={(interfaces) => change({ interfaces })} error={error} />
        <TextField
          label={t('nodes.tags')}
          optional
          value={form.tags}
          onChange={set('tags')}
          hint={t('node.tagsHint')}
          error={error('tags')}
        />
        <TextAreaField
          label={t('node.labels')}
          optional
          mono
          rows={3}
          value={form.labels}
          onChange={set('labels')}
          hint={t('node.labelsHint')}
          error={error('labels')}
        />
        <TextAreaField
          label={t('node.notes')}
          optional
          rows={3}
          value={form.notes}
          onChange={set('notes')}
          error={error('notes')}
        />
        <button type="submit" hidden />
      </form>
    </Dialog>
  )
}

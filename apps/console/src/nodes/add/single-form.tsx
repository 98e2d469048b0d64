'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { AccessFields, noAccess } from '@/nodes/access-fields.tsx'
import { parseTags } from '@/nodes/edit-dialog.tsx'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { AddNode } from './documents.ts'

/** The form for a single node. */
export function SingleForm({ onAdded, blockedReason }: { onAdded: (ids: string[]) => void; blockedReason: string | null }) {
  const mutation = useMutation(AddNode)
  const [form, setForm] = useState({ name: '', host: '', port: '', sshUser: '', tags: '' })
  const [access, setAccess] = useState(noAccess)
  const set = (key: keyof typeof form) => (event: { target: { value: string } }) =>
    setForm((before) => ({ ...before, [key]: event.target.value }))
  // The default name of "gpu01.rack4.example" is gpu01; an IP address gives none.
  const suggested = /^[a-zA-Z][\w-]*/.exec(form.host.trim())?.[0] ?? ''
  const name = form.name || suggested
  async function add() {
    const outcome = await mutation.run({
      input: {
        name,
        host: form.host.trim(),
        port: form.port ? Number(form.port) : null,
        sshUser: form.sshUser || null,
        tags: parseTags(form.tags),
        credentialId: access.credentialId || null,
        becomeCredentialId: access.becomeCredentialId || null,
        bastionId: access.bastionId || null,
      },
    })
    if (outcome.ok) onAdded([outcome.value.node.id])
  }
  const error = (path: string) => issueFor(mutation.problem, path)
  const missing = !form.host.trim()
    ? t('wizard.needHost')
    : !name
      ? t('wizard.needName')
      : !access.credentialId
        ? t('wizard.needCredential')
        : null
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        if (!missing && !blockedReason) void add()
      }}
      className="flex flex-col gap-4"
    >
      <Panel>
        <div className="grid gap-4 sm:grid-cols-2">
          {mutation.problem && (
            <div className="sm:col-span-2">
              <Notice tone="bad">{mutation.problem.message}</Notice>
            </div>
          )}
          <TextField
            label={t('node.host')}
            mono
            autoFocus
            value={form.host}
            onChange={set('host')}
            error={error('host')}
            placeholder={t('wizard.hostExample')}
            hint={t('wizard.hostHint')}
          />
          <div className="grid grid-cols-[1fr_88px] gap-4">
            <TextField
              label={t('nodes.name')}
              mono
              value={form.name}
              onChange={set('name')}
              error={error('name')}
              placeholder={suggested}
              hint={t('wizard.nameHint')}
            />
            <TextField
              label={t('node.port')}
              type="number"
              min={1}
              max={65535}
              placeholder="22"
              value={form.port}
              onChange={set('port')}
              error={error('port')}
            />
          </div>
          <AccessFields value={access} onChange={(key, id) => setAccess((before) => ({ ...before, [key]: id }))} error={error} />
          <TextField
            label={t('node.user')}
            mono
            optional
            value={form.sshUser}
            onChange={set('sshUser')}
            error={error('sshUser')}
            hint={t('wizard.userHint')}
          />
          <TextField
            className="sm:col-span-2"
            label={t('nodes.tags')}
            optional
            value={form.tags}
            onChange={set('tags')}
            hint={t('node.tagsHint')}
            error={error('tags')}
          />
        </div>
      </Panel>
      <Button variant="primary" type="submit" showReason busy={mutation.busy} blockedReason={blockedReason ?? missing}>
        {t('wizard.addAndTest')}
      </Button>
    </form>
  )
}

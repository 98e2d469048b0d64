'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { noAccess } from '@/nodes/access-fields.tsx'
import { ConnectionFields, PlaceFields } from '@/nodes/connection-fields.tsx'
import { parseTags } from '@/nodes/edit-dialog.tsx'
import { InterfaceFields, type InterfaceForm, interfacesInput } from '@/nodes/interface-fields.tsx'
import { LocationFields, locationInput, noLocation } from '@/nodes/location-fields.tsx'
import type { NodeHead } from '@/nodes/node-documents.ts'
import { BmcFields, bmcForm, bmcInput } from '@/power/bmc-fields.tsx'
import { Button } from '@/ui/button.tsx'
import { CheckField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { AddNode } from './documents.ts'

const empty = {
  name: '',
  host: '',
  connectionType: 'SSH' as NodeHead['connectionType'],
  port: '',
  sshUser: '',
  region: '',
  datacenter: '',
  ...noLocation,
  tags: '',
}

/** The form for a single node. */
export function SingleForm({ onAdded, blockedReason }: { onAdded: (ids: string[]) => void; blockedReason: string | null }) {
  const mutation = useMutation(AddNode)
  const [form, setForm] = useState({ ...empty, ...noAccess })
  const [bmc, setBmc] = useState<ReturnType<typeof bmcForm> | null>(null)
  const [interfaces, setInterfaces] = useState<InterfaceForm[]>([])
  const change = (values: Partial<typeof form>) => setForm((before) => ({ ...before, ...values }))
  const set = (key: keyof typeof form) => (event: { target: { value: string } }) =>
    setForm((before) => ({ ...before, [key]: event.target.value }))
  const isSsh = form.connectionType === 'SSH'
  // The default name of "gpu01.rack4.example" is gpu01; an IP address gives none, nor does localhost, which Ansible reserves.
  const label = /^[a-zA-Z][\w-]*/.exec(form.host.trim())?.[0] ?? ''
  const suggested = label === 'localhost' ? '' : label
  const name = form.name || suggested
  async function add() {
    const outcome = await mutation.run({
      input: {
        name,
        host: form.host.trim(),
        connectionType: form.connectionType,
        region: form.region || null,
        datacenter: form.datacenter || null,
        ...locationInput(form),
        interfaces: interfacesInput(interfaces),
        tags: parseTags(form.tags),
        bmc: bmc && { ...bmcInput(bmc), credentialId: bmc.credentialId },
        becomeCredentialId: form.becomeCredentialId || null,
        ...(isSsh && {
          port: form.port ? Number(form.port) : null,
          sshUser: form.sshUser || null,
          credentialId: form.credentialId,
          bastionId: form.bastionId || null,
        }),
      },
    })
    if (outcome.ok) onAdded([outcome.value.node.id])
  }
  const error = (path: string) => issueFor(mutation.problem, path)
  const missing = !form.host.trim()
    ? t('wizard.needHost')
    : !name
      ? t('wizard.needName')
      : isSsh && !form.credentialId
        ? t('wizard.needCredential')
        : bmc && !(bmc.address.trim() && bmc.credentialId)
          ? t('bmc.needAccess')
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
          <TextField
            label={t('nodes.name')}
            mono
            value={form.name}
            onChange={set('name')}
            error={error('name')}
            placeholder={suggested}
            hint={t('wizard.nameHint')}
          />
          <ConnectionFields value={form} onChange={change} error={error} />
          <PlaceFields value={form} onChange={change} error={error} />
          <LocationFields value={form} onChange={change} error={error} />
          <InterfaceFields value={interfaces} onChange={setInterfaces} error={error} />
          <TextField
            label={t('nodes.tags')}
            optional
            value={form.tags}
            onChange={set('tags')}
            hint={t('node.tagsHint')}
            error={error('tags')}
          />
          <div className="sm:col-span-2">
            <CheckField
              label={t('bmc.add')}
              hint={t('bmc.addHint')}
              checked={bmc !== null}
              onChange={(event) => setBmc(event.target.checked ? bmcForm(null) : null)}
            />
          </div>
          {bmc && (
            <BmcFields
              value={bmc}
              onChange={(values) => setBmc((before) => before && { ...before, ...values })}
              error={(path) => error(`bmc.${path}`)}
            />
          )}
        </div>
      </Panel>
      <Button variant="primary" type="submit" showReason busy={mutation.busy} blockedReason={blockedReason ?? missing}>
        {t('wizard.addAndTest')}
      </Button>
    </form>
  )
}

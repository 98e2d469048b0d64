'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { BmcFields, bmcForm, bmcInput } from './bmc-fields.tsx'
import { type NodePower, SetNodeBmc } from './documents.ts'

/** Sets or changes the BMC of a node. */
export function BmcDialog({ node, onClose }: { node: NodePower; onClose: () => void }) {
  const { bmc } = node
  const mutation = useMutation(SetNodeBmc)
  const [form, setForm] = useState(() => bmcForm(bmc))
  const change = (values: Partial<typeof form>) => setForm((before) => ({ ...before, ...values }))
  async function save() {
    const outcome = await mutation.run({
      input: {
        nodeId: node.id,
        ...bmcInput(form),
        ...(form.credentialId ? { credentialId: form.credentialId } : {}),
      },
    })
    if (!outcome.ok) return
    toast('ok', t('bmc.saved', { name: node.name }))
    onClose()
  }
  return (
    <Dialog
      wide
      title={t('bmc.editTitle', { name: node.name })}
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
          event.stopPropagation()
          void save()
        }}
      >
        {mutation.problem && (
          <div className="sm:col-span-2">
            <Notice tone="bad">{mutation.problem.message}</Notice>
          </div>
        )}
        <BmcFields value={form} onChange={change} error={(path) => issueFor(mutation.problem, path)} />
        <button type="submit" className="hidden" />
      </form>
    </Dialog>
  )
}

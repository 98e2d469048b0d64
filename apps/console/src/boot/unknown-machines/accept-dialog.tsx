'use client'
import { useState } from 'react'
import { useClient } from 'urql'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog, DialogActions } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { AcceptUnknownMachine, type Machine, NodeByNameQuery } from './documents.ts'

/** Accepts a machine as a new node, or gives its interfaces to an existing one. */
export function AcceptDialog({ machine, onClose }: { machine: Machine; onClose: (isAccepted: boolean) => void }) {
  const client = useClient()
  const accept = useMutation(AcceptUnknownMachine)
  const [isExisting, setExisting] = useState(false)
  const [name, setName] = useState('')
  const [host, setHost] = useState('')
  const [missing, setMissing] = useState<string | null>(null)

  async function submit() {
    setMissing(null)
    let nodeId: string | null = null
    if (isExisting) {
      const { data } = await client.query(NodeByNameQuery, { name: name.trim() }, { requestPolicy: 'network-only' }).toPromise()
      nodeId = data?.computeNode?.id ?? null
      if (!nodeId) return setMissing(t('unknownMachine.noNode', { name: name.trim() }))
    }
    const fresh = { name: name.trim(), host: host.trim() || null }
    const outcome = await accept.run({ input: { id: machine.id, ...(isExisting ? { nodeId } : fresh) } })
    if (!outcome.ok) return
    toast('ok', t('unknownMachine.acceptedToast', { name: outcome.value.unknownMachine.node?.name ?? '' }))
    onClose(true)
  }

  const { problem } = accept
  const nameIssue = missing ?? issueFor(problem, 'name')
  return (
    <Dialog title={t('unknownMachine.acceptTitle', { mac: machine.mac })} onClose={() => onClose(false)}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault()
          void submit()
        }}
      >
        <fieldset className="flex flex-col gap-2 text-sm">
          <legend className="sr-only">{t('unknownMachine.acceptAs')}</legend>
          {([false, true] as const).map((value) => (
            <label key={String(value)} className="flex items-center gap-2">
              <input type="radio" name="target" checked={isExisting === value} onChange={() => setExisting(value)} />
              {t(value ? 'unknownMachine.existingNode' : 'unknownMachine.newNode')}
            </label>
          ))}
        </fieldset>
        <TextField
          label={t('unknownMachine.nodeName')}
          value={name}
          onChange={(event) => setName(event.target.value)}
          error={nameIssue}
          mono
          autoComplete="off"
        />
        {!isExisting && (
          <TextField
            label={t('unknownMachine.host')}
            hint={t('unknownMachine.hostHint')}
            value={host}
            onChange={(event) => setHost(event.target.value)}
            error={issueFor(problem, 'host')}
            optional
            mono
            autoComplete="off"
          />
        )}
        {problem && problem.issues.length === 0 && <Notice tone="bad">{problem.message}</Notice>}
        <DialogActions>
          <Button onClick={() => onClose(false)}>{t('common.back')}</Button>
          <Button
            variant="primary"
            type="submit"
            showReason
            busy={accept.busy}
            blockedReason={name.trim() === '' ? t('unknownMachine.nameMissing') : null}
          >
            {t('unknownMachine.accept')}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

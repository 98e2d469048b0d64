'use client'
import { useState } from 'react'
import { CredentialForm } from '@/credentials/credential-form.tsx'
import { CredentialSelect } from '@/credentials/credential-select.tsx'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Dialog, DialogActions } from '@/ui/dialog.tsx'
import { CheckField } from '@/ui/field.tsx'
import { toast } from '@/ui/toast.tsx'
import type { BmcDiscoveryPage, FoundBmc } from './documents.ts'
import { useAssign } from './use-assign.ts'

type Props = { discovery: BmcDiscoveryPage; rows: readonly FoundBmc[]; onClose: () => void; onAssigned: () => void }

/** Shows which node gets which BMC, asks for the credential and the approval of certificates, and assigns them. */
export function AssignDialog({ discovery, rows: initialRows, onClose, onAssigned }: Props) {
  // The list of the page is read again while BMCs are assigned.
  const [rows] = useState(initialRows)
  const [credentialId, setCredential] = useState(discovery.credential?.id ?? '')
  const [isApproved, setApproved] = useState(false)
  const [names, setNames] = useState<Record<string, string>>({})
  const pinned = rows.filter(({ fingerprint }) => fingerprint !== null).length
  const { assign, results, isBusy } = useAssign(({ fingerprint }) => ({
    protocol: 'REDFISH',
    credentialId,
    fingerprint: isApproved ? fingerprint : null,
    caCertificate: fingerprint === null ? discovery.caCertificate : null,
  }))
  const nameOf = (bmc: FoundBmc) => names[bmc.id] ?? bmc.node?.name ?? ''
  const open = rows.filter(({ id }) => results.get(id) !== null)
  const taken = open.map((bmc) => nameOf(bmc).trim()).filter(Boolean)
  const twice = taken.find((name, i) => taken.indexOf(name) !== i)
  const blockedReason =
    open.length === 0
      ? t('bmcDiscovery.allAssigned')
      : !credentialId
        ? t('bmcDiscovery.needCredential')
        : taken.length < open.length
          ? t('bmcDiscovery.needNodes', { count: open.length - taken.length })
          : twice
            ? t('bmcDiscovery.twice', { name: twice })
            : null
  async function submit() {
    if (blockedReason) return
    const refused = await assign(open.map((bmc) => ({ bmc, nodeName: nameOf(bmc) })))
    onAssigned()
    if (refused > 0) return
    toast('ok', t('bmcDiscovery.assigned', { count: open.length }))
    onClose()
  }
  return (
    <Dialog wide title={t('bmcDiscovery.assignTitle', { count: rows.length })} onClose={onClose}>
      <form
        className="flex flex-col gap-4 text-sm"
        onSubmit={(event) => {
          event.preventDefault()
          event.stopPropagation()
          void submit()
        }}
      >
        <CredentialSelect
          Form={CredentialForm}
          label={t('bmc.credential')}
          kinds={['BMC']}
          value={credentialId}
          onChange={setCredential}
        />
        <ul className="flex max-h-80 flex-col divide-y divide-line overflow-y-auto rounded-md border border-line">
          {rows.map((bmc) => {
            const result = results.get(bmc.id)
            return (
              <li key={bmc.id} className="flex flex-col gap-1 px-3 py-2">
                <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
                  <code className="font-mono text-xs">
                    {bmc.address}:{bmc.port} {bmc.systemPath?.replace('/redfish/v1/', '')}
                  </code>
                  <span aria-hidden>→</span>
                  <input
                    aria-label={t('bmcDiscovery.nodeOf', { address: bmc.id.trim() })}
                    placeholder={t('unknownMachine.nodeName')}
                    className="h-8 min-w-0 flex-1 basis-32 rounded-md border border-line-strong bg-panel px-2 font-mono text-xs"
                    value={nameOf(bmc)}
                    disabled={result === null}
                    onChange={(event) => setNames((before) => ({ ...before, [bmc.id]: event.target.value }))}
                  />
                  {result === null && <Badge tone="ok">{t('bmcDiscovery.done')}</Badge>}
                </div>
                {bmc.conflict && result !== null && <p className="text-xs break-words text-warn">{bmc.conflict}</p>}
                {bmc.fingerprint && (
                  <p className="font-mono text-[11px] break-all text-muted">
                    {t('bmcDiscovery.fingerprint', { sum: bmc.fingerprint })}
                  </p>
                )}
                {result && <p className="text-xs break-words text-bad">{result}</p>}
              </li>
            )
          })}
        </ul>
        {pinned > 0 && (
          <CheckField
            label={t('bmcDiscovery.approve', { count: pinned })}
            hint={t('bmcDiscovery.approveHint')}
            checked={isApproved}
            onChange={(event) => setApproved(event.target.checked)}
          />
        )}
        <DialogActions>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" variant="primary" showReason busy={isBusy} blockedReason={blockedReason}>
            {t('bmcDiscovery.assign', { count: open.length })}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  )
}

'use client'
import { useState } from 'react'
import { useQuery } from 'urql'
import type { CredentialRow } from '@/credentials/documents.ts'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { RotateCredential, RotatedNodesQuery } from './documents.ts'
import { RotationProgressView } from './rotation-progress.tsx'

/** Rotates the secret of a credential: names the nodes, then shows the progress and the decisions about failed nodes. */
export function RotationDialog({ credential, onClose }: { credential: CredentialRow; onClose: () => void }) {
  const last = credential.rotations.edges[0]?.node
  const [rotationId, setRotationId] = useState(last && isUnfinished(last.status) ? last.id : null)
  return (
    <Dialog wide title={t('rotation.title', { name: credential.name })} onClose={onClose}>
      {rotationId ? (
        <RotationProgressView id={rotationId} onClose={onClose} />
      ) : (
        <StartForm credential={credential} onStarted={setRotationId} onCancel={onClose} />
      )}
    </Dialog>
  )
}

export const isUnfinished = (status: string): boolean => status === 'RUNNING' || status === 'PAUSED' || status === 'CANCELING'

function StartForm({
  credential,
  onStarted,
  onCancel,
}: {
  credential: CredentialRow
  onStarted: (id: string) => void
  onCancel: () => void
}) {
  const rotate = useMutation(RotateCredential)
  const [{ data }] = useQuery({ query: RotatedNodesQuery, variables: { id: credential.id }, requestPolicy: 'network-only' })
  const [source, setSource] = useState<'random' | 'given'>('random')
  const [secret, setSecret] = useState('')
  const [passphrase, setPassphrase] = useState('')
  const isKey = credential.kind === 'SSH_KEY'
  const login = data?.node?.__typename === 'Credential' ? data.node.usedBy.find(({ role }) => role === 'LOGIN') : undefined
  async function start() {
    const given =
      source === 'random'
        ? {}
        : isKey
          ? { privateKey: secret.endsWith('\n') ? secret : `${secret}\n`, ...(passphrase ? { passphrase } : {}) }
          : { password: secret }
    const outcome = await rotate.run({ input: { id: credential.id, ...given } })
    if (outcome.ok) onStarted(outcome.value.credentialRotation.id)
  }
  const error = (path: string) => issueFor(rotate.problem, path)
  return (
    <form
      className="flex flex-col gap-4 text-sm"
      onSubmit={(event) => {
        event.preventDefault()
        void start()
      }}
    >
      <p>{t(isKey ? 'rotation.textKey' : 'rotation.textPassword')}</p>
      {data ? (
        <p className="rounded-md bg-sunken p-2">
          <span className="font-medium">{t('rotation.nodes', { count: login?.count ?? 0 })}</span>{' '}
          <code className="font-mono text-xs break-all">{login?.hostlist}</code>
        </p>
      ) : (
        <Skeleton className="h-9 w-full" />
      )}
      <SelectField
        label={t('rotation.source')}
        value={source}
        onChange={(event) => setSource(event.target.value as 'random' | 'given')}
      >
        <option value="random">{t(isKey ? 'rotation.randomKey' : 'rotation.randomPassword')}</option>
        <option value="given">{t(isKey ? 'rotation.givenKey' : 'rotation.givenPassword')}</option>
      </SelectField>
      {source === 'given' && isKey && (
        <>
          <TextAreaField
            mono
            rows={6}
            label={t('credential.privateKey')}
            value={secret}
            onChange={(event) => setSecret(event.target.value)}
            error={error('privateKey')}
          />
          <TextField
            type="password"
            autoComplete="new-password"
            optional
            label={t('credential.passphrase')}
            value={passphrase}
            onChange={(event) => setPassphrase(event.target.value)}
            error={error('passphrase')}
          />
        </>
      )}
      {source === 'given' && !isKey && (
        <TextField
          type="password"
          autoComplete="new-password"
          label={t('rotation.password')}
          value={secret}
          onChange={(event) => setSecret(event.target.value)}
          error={error('password')}
        />
      )}
      {rotate.problem && rotate.problem.issues.length === 0 && <Notice tone="bad">{rotate.problem.message}</Notice>}
      <div className="flex justify-end gap-2">
        <Button onClick={onCancel}>{t('common.cancel')}</Button>
        <Button
          type="submit"
          variant="danger"
          busy={rotate.busy}
          showReason
          blockedReason={source === 'given' && !secret ? t('rotation.needSecret') : null}
        >
          {t('rotation.start')}
        </Button>
      </div>
    </form>
  )
}

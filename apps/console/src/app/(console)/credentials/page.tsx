'use client'
import { KeyRound, Pencil, Plus, RefreshCw, Trash2 } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { useBlockedReason } from '@/access/viewer.tsx'
import { FingerprintCommands } from '@/connections/fingerprint-commands.tsx'
import { CredentialForm } from '@/credentials/credential-form.tsx'
import { type CredentialRow, CredentialsQuery, DeleteCredential } from '@/credentials/documents.ts'
import { SecretStoreList } from '@/credentials/secret-store-list.tsx'
import { useConnection } from '@/graphql/use-connection.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { formatAddress } from '@/nodes/badges.tsx'
import { ApproveHostKeys } from '@/nodes/documents.ts'
import { isUnfinished, RotationDialog } from '@/rotations/rotation-dialog.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'

type Open = { kind: 'new' } | { kind: 'edit' | 'rotate' | 'delete' | 'hostKey'; credential: CredentialRow } | null

function CredentialItem({
  credential,
  onOpen,
  blocked,
}: {
  credential: CredentialRow
  onOpen: (open: Open) => void
  blocked: string | null
}) {
  const approveBlocked = useBlockedReason('node:approve_host_key')
  const { nodeCount, lastResult } = credential
  const offered = credential.offeredHostKeyFingerprint
  const rotation = credential.rotations.edges[0]?.node
  const isRotating = rotation !== undefined && isUnfinished(rotation.status)
  return (
    <li className="flex flex-wrap items-start gap-x-4 gap-y-2 border-b border-line px-4 py-3 last:border-0">
      <div className="min-w-0 flex-1 basis-64">
        <div className="flex flex-wrap items-center gap-2 text-sm">
          <span className="font-medium">{credential.name}</span>
          <Badge>{t(`credentialKind.${credential.kind}`)}</Badge>
          {credential.username && <code className="font-mono text-xs text-muted">{credential.username}</code>}
          {credential.host && (
            <code className="font-mono text-xs text-muted">{formatAddress(credential.host, credential.port ?? 22)}</code>
          )}
          {credential.via && <span className="text-xs text-muted">{t('credential.viaName', { name: credential.via.name })}</span>}
        </div>
        {credential.description && <p className="mt-0.5 text-sm text-muted">{credential.description}</p>}
        <div className="mt-1 flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-muted">
          <span>
            {t('credential.stored', {
              names: credential.secretsSet.map((name) => t(`secret.${name}`)).join(', ') || t('common.none'),
            })}
          </span>
          {credential.secretStore && (
            <span>
              {t('credential.storedIn', {
                store: credential.secretStore.name,
                names: credential.secretRefs.map(({ field, path, key }) => `${t(`secret.${field}`)} (${path}#${key})`).join(', '),
              })}
            </span>
          )}
          <Link href="/nodes" className="hover:underline">
            {t('credential.usedBy', { count: nodeCount })}
          </Link>
          <span>
            {credential.lastUsedAt
              ? t.rich('credential.lastUsed', { time: () => <RelativeTime at={credential.lastUsedAt} /> })
              : t('credential.neverUsed')}
          </span>
          {lastResult && (
            <span className={lastResult.isOk ? '' : 'text-bad'} title={lastResult.error ?? undefined}>
              {t.rich(lastResult.isOk ? 'credential.lastTestOk' : 'credential.lastTestFailed', {
                time: () => <RelativeTime at={lastResult.testedAt} />,
              })}
            </span>
          )}
        </div>
        {credential.publicKey && (
          <div className="mt-1 flex items-center gap-1">
            <code className="min-w-0 truncate font-mono text-xs text-faint">{credential.publicKey}</code>
            <CopyButton text={credential.publicKey} />
          </div>
        )}
        {offered && (
          <div className="mt-2 flex flex-wrap items-center gap-3 text-xs text-warn">
            <span>{credential.hostKeyFingerprint ? t('hostKey.bastionChanged') : t('hostKey.bastionNew')}</span>
            <Button blockedReason={approveBlocked} onClick={() => onOpen({ kind: 'hostKey', credential })}>
              {t('hostKey.review')}
            </Button>
          </div>
        )}
      </div>
      <div className="flex flex-wrap gap-2">
        {(credential.kind === 'SSH_KEY' || credential.kind === 'SSH_PASSWORD') && (
          <Button
            icon={<RefreshCw aria-hidden />}
            blockedReason={isRotating ? null : credential.rotateBlockedReason}
            onClick={() => onOpen({ kind: 'rotate', credential })}
          >
            {isRotating ? t('rotation.unfinished', { status: t(`rotation.status.${rotation.status}`) }) : t('rotation.action')}
          </Button>
        )}
        <Button icon={<Pencil aria-hidden />} blockedReason={blocked} onClick={() => onOpen({ kind: 'edit', credential })}>
          {t('credential.update')}
        </Button>
        <Button
          variant="danger"
          label={t('credential.deleteName', { name: credential.name })}
          icon={<Trash2 aria-hidden />}
          blockedReason={blocked ?? (nodeCount > 0 ? t('credential.inUse', { count: nodeCount }) : null)}
          onClick={() => onOpen({ kind: 'delete', credential })}
        />
      </div>
    </li>
  )
}

/** Credentials with their use and the names of stored secrets, and secret stores. The API never returns the secrets. */
export default function CredentialsPage() {
  useTitle(t('nav.credentials'))
  const blocked = useBlockedReason('credential:write')
  const list = useConnection('credentials', CredentialsQuery, {}, (data) => data.credentials)
  const remove = useMutation(DeleteCredential)
  const approve = useMutation(ApproveHostKeys)
  const [open, setOpen] = useState<Open>(null)
  const close = () => setOpen(null)
  const add = (
    <Button variant="primary" icon={<Plus aria-hidden />} blockedReason={blocked} onClick={() => setOpen({ kind: 'new' })}>
      {t('credential.new')}
    </Button>
  )
  return (
    <>
      <PageHead title={t('nav.credentials')} count={list.total === null ? undefined : formatNumber(list.total)}>
        {add}
      </PageHead>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('credential.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : list.isLoading ? (
        <div className="rounded-lg border border-line bg-panel">
          <SkeletonRows rows={4} height={68} />
        </div>
      ) : list.rows.length === 0 ? (
        <Empty icon={<KeyRound aria-hidden />} title={t('credential.emptyTitle')} action={add}>
          <p>{t('credential.emptyText')}</p>
        </Empty>
      ) : (
        <>
          <ul className="rounded-lg border border-line bg-panel">
            {list.rows.map((credential) => (
              <CredentialItem key={credential.id} credential={credential} onOpen={setOpen} blocked={blocked} />
            ))}
          </ul>
          {list.hasMore && (
            <div className="flex justify-center pt-4">
              <Button onClick={list.more}>{t('common.loadMore')}</Button>
            </div>
          )}
        </>
      )}
      <SecretStoreList />
      {(open?.kind === 'new' || open?.kind === 'edit') && (
        <Dialog
          wide
          title={open.kind === 'edit' ? t('credential.editTitle', { name: open.credential.name }) : t('credential.newTitle')}
          onClose={close}
        >
          <CredentialForm
            credential={open.kind === 'edit' ? open.credential : undefined}
            onCancel={close}
            onDone={(credential) => {
              close()
              toast('ok', t('credential.saved', { name: credential.name }))
              void list.reload()
            }}
          />
        </Dialog>
      )}
      {open?.kind === 'rotate' && (
        <RotationDialog
          credential={open.credential}
          onClose={() => {
            close()
            void list.reload()
          }}
        />
      )}
      {open?.kind === 'delete' && (
        <Confirm
          title={t('credential.deleteTitle', { name: open.credential.name })}
          action={t('credential.delete')}
          onClose={close}
          onConfirm={async () => {
            const outcome = await remove.run({ id: open.credential.id })
            if (outcome.ok) void list.reload()
            return outcome
          }}
        >
          <p>{t('credential.deleteText')}</p>
        </Confirm>
      )}
      {open?.kind === 'hostKey' && (
        <Confirm
          title={t('hostKey.confirmTitle', { name: open.credential.name })}
          action={t('hostKey.approve')}
          onClose={close}
          onConfirm={async () => {
            const outcome = await approve.run({
              approvals: [{ id: open.credential.id, fingerprint: open.credential.offeredHostKeyFingerprint ?? '' }],
            })
            if (outcome.ok) void list.reload()
            return outcome
          }}
        >
          <p>{t('hostKey.confirmText')}</p>
          {open.credential.hostKeyFingerprint && (
            <code className="rounded-md bg-sunken p-2 font-mono text-xs break-all text-bad">
              {open.credential.hostKeyFingerprint}
            </code>
          )}
          <code className="rounded-md bg-sunken p-2 font-mono text-xs break-all">
            {open.credential.offeredHostKeyFingerprint}
          </code>
          <FingerprintCommands />
        </Confirm>
      )}
    </>
  )
}

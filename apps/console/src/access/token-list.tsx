'use client'
import { type ReactNode, useState } from 'react'
import type { AnyVariables, TypedDocumentNode } from 'urql'
import type { useConnection } from '@/graphql/use-connection.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Failure } from '@/ui/failure.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'

type LineProps = { children: ReactNode; blockedReason?: string | null; onRevoke: (() => void) | null }

/** One token of the list. `onRevoke` is null for expired and revoked tokens. */
export function TokenLine({ children, blockedReason, onRevoke }: LineProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-4 py-3 text-sm last:border-0">
      {children}
      {onRevoke && (
        <Button variant="danger" blockedReason={blockedReason} onClick={onRevoke}>
          {t('tokens.revoke')}
        </Button>
      )}
    </li>
  )
}

type Props<T extends { id: string }, D extends object> = {
  list: ReturnType<typeof useConnection<unknown, AnyVariables, T>>
  /** Renders one token; `onRevoke` asks for confirmation. */
  row: (token: T, onRevoke: () => void) => ReactNode
  /** The token's name in the confirmation. */
  nameOf: (token: T) => string
  revoke: TypedDocumentNode<D, { id: string }>
  /** The text of the confirmation. */
  revokeText: string
  /** Title of the error state. */
  loadFailed: string
  empty: ReactNode
}

/** A list of tokens with revocation. */
export function TokenList<T extends { id: string }, D extends object>({
  list,
  row,
  nameOf,
  revoke,
  revokeText,
  loadFailed,
  empty,
}: Props<T, D>) {
  const mutation = useMutation(revoke)
  const [revoking, setRevoking] = useState<T | null>(null)
  if (list.problem && list.rows.length === 0)
    return <Failure title={loadFailed} message={list.problem.message} onRetry={() => void list.reload()} />
  return (
    <>
      {list.isLoading ? (
        <div className="rounded-lg border border-line bg-panel">
          <SkeletonRows rows={3} height={60} />
        </div>
      ) : list.rows.length === 0 ? (
        empty
      ) : (
        <ul className="rounded-lg border border-line bg-panel">
          {list.rows.map((token) => row(token, () => setRevoking(token)))}
        </ul>
      )}
      {list.hasMore && (
        <div className="flex justify-center pt-4">
          <Button onClick={list.more}>{t('common.loadMore')}</Button>
        </div>
      )}
      {revoking && (
        <Confirm
          title={t('tokens.revokeTitle', { name: nameOf(revoking) })}
          action={t('tokens.revoke')}
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            const outcome = await mutation.run({ id: revoking.id })
            // Also after a failure: the token may have been used or revoked meanwhile.
            void list.reload()
            return outcome
          }}
        >
          <p>{revokeText}</p>
        </Confirm>
      )}
    </>
  )
}

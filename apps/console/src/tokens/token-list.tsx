'use client'
import { type ReactNode, useState } from 'react'
import type { AnyVariables, TypedDocumentNode } from 'urql'
import type { useConnection } from '@/graphql/use-connection.ts'
import { useVerb } from '@/graphql/use-verb.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Confirm } from '@/ui/confirm.tsx'
import { Failure } from '@/ui/failure.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'

type LineProps = { children: ReactNode; blockedReason?: string | null; onRevoke: (() => void) | null }

/** A line of the list. `onRevoke` is null where nothing is left to revoke. */
export function TokenLine({ children, blockedReason, onRevoke }: LineProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-4 py-3 text-sm last:border-0">
      {children}
      {onRevoke && (
        <Button look="danger" blockedReason={blockedReason} onClick={onRevoke}>
          {t('tokens.revoke')}
        </Button>
      )}
    </li>
  )
}

type Props<T extends { id: string }, D extends object> = {
  list: ReturnType<typeof useConnection<unknown, AnyVariables, T>>
  /** The line of one token; `onRevoke` asks before it does so. */
  row: (token: T, onRevoke: () => void) => ReactNode
  /** What the question calls it. */
  nameOf: (token: T) => string
  revoke: TypedDocumentNode<D, { id: string }>
  /** What revoking one means. */
  revokeText: string
  empty: ReactNode
}

/** Tokens of one kind; each can be revoked. */
export function TokenList<T extends { id: string }, D extends object>({
  list,
  row,
  nameOf,
  revoke,
  revokeText,
  empty,
}: Props<T, D>) {
  const verb = useVerb(revoke)
  const [revoking, setRevoking] = useState<T | null>(null)
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('tokens.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
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
          <Button onClick={list.more}>{t('common.more')}</Button>
        </div>
      )}
      {revoking && (
        <Confirm
          title={t('tokens.revokeTitle', { name: nameOf(revoking) })}
          action={t('tokens.revoke')}
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            const outcome = await verb.run({ id: revoking.id })
            // Also when it was used or revoked meanwhile, which the list should say.
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

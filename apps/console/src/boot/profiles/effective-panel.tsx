'use client'
import Link from 'next/link'
import { useQuery } from 'urql'
import { toProblem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Failure } from '@/ui/failure.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { type Candidate, type Effective, EffectiveQuery, profileHref } from './documents.ts'
import { Origins, targetText } from './values.tsx'

const through = ({ target, groupName, priority }: Candidate): string =>
  t('bootProfile.through', {
    target: target === 'GROUP' ? targetText({ target, name: groupName }) : t(`bootTarget.${target}`),
    priority: String(priority),
  })

function Candidates({ candidates }: { candidates: readonly Candidate[] }) {
  return (
    <ul className="flex flex-col gap-2">
      {candidates.map((each) => (
        <li key={`${each.source.name} ${each.target} ${each.groupName}`} className="flex flex-col">
          <span className="wrap-anywhere">
            <Link href={profileHref(each.source.name)} className="hover:underline">
              {each.source.name}
            </Link>{' '}
            <span className="text-muted">{through(each)}</span>
          </span>
          {each.lostReason && <span className="text-xs text-muted">{each.lostReason}</span>}
        </li>
      ))}
    </ul>
  )
}

function Body({ effective: { reason, resolved, candidates } }: { effective: Effective }) {
  const winner = candidates[0]
  const additions = candidates.filter(({ isAddition }) => isAddition)
  const losers = candidates.filter(({ lostReason }) => lostReason !== null)
  return (
    <div className="flex flex-col gap-4 text-sm">
      {resolved ? (
        <p className="flex flex-wrap items-baseline gap-x-3">
          <Link href={profileHref(resolved.source.name)} className="font-medium wrap-anywhere hover:underline">
            {resolved.source.name}
          </Link>
          <span className="text-muted">
            {t('bootProfile.version', { number: String(resolved.source.version) })}
            {winner && ` · ${through(winner)}`}
          </span>
        </p>
      ) : (
        <p className="text-muted">{reason}</p>
      )}
      {additions.length > 0 && (
        <div className="flex flex-col gap-1">
          <p className="text-muted">{t('bootProfile.added')}</p>
          <Candidates candidates={additions} />
        </div>
      )}
      {resolved?.problems.map((problem) => (
        <Notice key={problem} tone="warn">
          {problem}
        </Notice>
      ))}
      {resolved && (
        <details>
          <summary className="cursor-pointer text-muted">{t('bootProfile.values')}</summary>
          <div className="pt-3">
            <Origins origins={resolved.origins} />
          </div>
        </details>
      )}
      {losers.length > 0 && (
        <details>
          <summary className="cursor-pointer text-muted">{t('bootProfile.lost', { count: losers.length })}</summary>
          <div className="pt-3">
            <Candidates candidates={losers} />
          </div>
        </details>
      )}
    </div>
  )
}

/** What a node boots, through which assignment, and why others lost. */
export function EffectiveBootPanel({ nodeId }: { nodeId: string }) {
  const [{ data, error }, refetch] = useQuery({
    query: EffectiveQuery,
    variables: { id: nodeId },
    requestPolicy: 'cache-and-network',
  })
  const effective = data?.node?.__typename === 'ComputeNode' ? data.node.effectiveBootProfile : null
  return (
    <Panel title={t('bootProfile.one')}>
      {effective ? (
        <Body effective={effective} />
      ) : error ? (
        <Failure
          title={t('bootProfile.loadFailed')}
          message={toProblem(error).message}
          onRetry={() => refetch({ requestPolicy: 'network-only' })}
        />
      ) : (
        <Skeleton className="h-16 w-full" />
      )}
    </Panel>
  )
}

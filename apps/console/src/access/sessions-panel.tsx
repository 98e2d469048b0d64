'use client'
import { useConnection } from '@/graphql/use-connection.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Failure } from '@/ui/failure.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { toast } from '@/ui/toast.tsx'
import { EndOtherSessions, EndSession, type Session, SessionsQuery } from './sessions-documents.ts'

/** Lists the sessions of the user. Ends one session, or all others. */
export function SessionsPanel() {
  const list = useConnection('sessions', SessionsQuery, {}, (data) => data.sessions)
  const end = useMutation(EndSession)
  const endOthers = useMutation(EndOtherSessions)
  const problem = end.problem ?? endOthers.problem
  async function endOne({ id }: Session) {
    if ((await end.run({ id })).ok) await list.reload()
  }
  async function endAll() {
    const outcome = await endOthers.run({})
    if (!outcome.ok) return
    toast('ok', t('sessions.ended', { count: outcome.value.endedCount }))
    await list.reload()
  }
  const others = list.rows.filter(({ isCurrent }) => !isCurrent)
  return (
    <Panel
      title={t('sessions.title')}
      flush
      actions={
        others.length > 0 && (
          <Button busy={endOthers.busy} onClick={() => void endAll()}>
            {t('sessions.endOthers')}
          </Button>
        )
      }
    >
      {problem && (
        <div className="p-4 pb-0">
          <Notice tone="bad">{problem.message}</Notice>
        </div>
      )}
      {list.problem && list.rows.length === 0 ? (
        <div className="p-4">
          <Failure title={t('sessions.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
        </div>
      ) : list.isLoading ? (
        <SkeletonRows rows={2} height={56} />
      ) : (
        <ul>
          {list.rows.map((session) => (
            <SessionLine key={session.id} session={session} busy={end.busy} onEnd={() => void endOne(session)} />
          ))}
        </ul>
      )}
    </Panel>
  )
}

function SessionLine({ session, busy, onEnd }: { session: Session; busy: boolean; onEnd: () => void }) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1.5 border-b border-line px-4 py-3 text-sm last:border-0">
      <div className="min-w-0 flex-1 basis-52">
        <div className="flex flex-wrap items-center gap-2">
          <span className="font-medium">{session.device ?? t('sessions.unknownDevice')}</span>
          {session.isCurrent && <Badge tone="accent">{t('sessions.current')}</Badge>}
        </div>
        {session.address && <code className="font-mono text-xs text-muted">{session.address}</code>}
      </div>
      <div className="flex flex-wrap gap-x-4 text-xs text-muted">
        <span>{t.rich('credential.lastUsed', { time: () => <RelativeTime at={session.lastUsedAt} /> })}</span>
        <span>{t.rich('sessions.signedIn', { time: () => <RelativeTime at={session.createdAt} /> })}</span>
      </div>
      {!session.isCurrent && (
        <Button variant="danger" busy={busy} onClick={onEnd}>
          {t('sessions.end')}
        </Button>
      )}
    </li>
  )
}

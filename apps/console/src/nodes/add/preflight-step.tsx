'use client'
import { useCallback, useEffect, useRef, useState } from 'react'
import { keysToApprove } from '@/connections/keys-to-approve.ts'
import { PreflightList } from '@/connections/preflight-list.tsx'
import { readRecentTests, storeTests } from '@/connections/recent-tests.ts'
import { useLiveObjects } from '@/graphql/use-live.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { ConnectionTestUpdated, type Preflight, TestConnections } from '@/nodes/documents.ts'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'

/**
 * Step 2: connection tests with live stages, key approval and retry. A node tested again keeps its position. A reload within a minute
 * shows the running tests and starts no new ones.
 */
export function PreflightStep({ nodeIds, onReady }: { nodeIds: string[]; onReady: (ids: string[]) => void }) {
  const { run, busy, problem } = useMutation(TestConnections)
  const [reloaded] = useState(() => readRecentTests(nodeIds))
  const [watching, setWatching] = useState(reloaded)
  const [byNode, setByNode] = useState<ReadonlyMap<string, Preflight>>(new Map())
  const take = useCallback((tests: readonly Preflight[]) => {
    setByNode((before) => {
      const next = new Map(before)
      for (const test of tests) {
        const known = next.get(test.node.id)
        // An update of an earlier test may arrive late; the later test wins.
        if (!known || known.id === test.id || known.createdAt <= test.createdAt) next.set(test.node.id, test)
      }
      return next
    })
  }, [])
  const start = useCallback(
    async (ids: string[]) => {
      let former: ReadonlyMap<string, Preflight> = new Map()
      // Reset the previous results when a new test starts; restore them if it can't start.
      setByNode((before) => {
        former = before
        const next = new Map(before)
        for (const [id, test] of before)
          if (ids.includes(id)) next.set(id, { ...test, stages: [], isOk: null, error: null, finishedAt: null })
        return next
      })
      const outcome = await run({ nodeIds: ids })
      if (!outcome.ok) {
        setByNode(former)
        return
      }
      take(outcome.value.connectionTests)
      setWatching((before) => {
        const outdated = new Set(ids.map((id) => former.get(id)?.id))
        return [...before.filter((id) => !outdated.has(id)), ...outcome.value.connectionTests.map((test) => test.id)]
      })
    },
    [run, take],
  )
  const isStarted = useRef(reloaded.length > 0)
  useEffect(() => {
    if (isStarted.current) return
    isStarted.current = true
    void start(nodeIds)
  }, [start, nodeIds])
  useEffect(() => {
    if (watching !== reloaded) storeTests(nodeIds, watching)
  }, [watching, reloaded, nodeIds])
  useLiveObjects(ConnectionTestUpdated, watching, ({ connectionTestUpdated }) => take([connectionTestUpdated]))

  const tests = nodeIds.flatMap((id) => byNode.get(id) ?? [])
  const good = tests.filter((test) => test.isOk)
  const finished = tests.filter((test) => test.finishedAt !== null)
  const failed = finished.filter((test) => !test.isOk)
  // A test that waits for a key has not failed: it continues after the approval.
  const broken = failed.filter((test) => keysToApprove([test]).length === 0)
  const isFinished = tests.length === nodeIds.length && finished.length === tests.length
  return (
    <div className="flex flex-col gap-4">
      {problem && (
        <Notice tone="bad" action={<Button onClick={() => void start(nodeIds)}>{t('common.retry')}</Button>}>
          {problem.message}
        </Notice>
      )}
      <p className="text-sm text-muted tabular-nums" aria-live="polite">
        {t('preflight.progress', { ok: good.length, total: nodeIds.length })}
      </p>
      <PreflightList tests={tests} expanded={nodeIds.length === 1} onApproved={(ids) => void start(ids)} />
      <div className="flex flex-wrap gap-2">
        <Button
          variant="primary"
          showReason
          blockedReason={good.length === 0 ? t('preflight.noneReady') : isFinished ? null : t('preflight.stillRunning')}
          onClick={() => onReady(good.map((test) => test.node.id))}
        >
          {failed.length > 0 && good.length > 0 ? t('preflight.continueWith', { count: good.length }) : t('wizard.discover')}
        </Button>
        {broken.length > 0 && (
          <Button
            busy={busy}
            blockedReason={isFinished ? null : t('preflight.stillRunning')}
            onClick={() => void start(broken.map((test) => test.node.id))}
          >
            {t('preflight.retryFailed', { count: broken.length })}
          </Button>
        )}
        {isFinished && broken.length < nodeIds.length && (
          <Button variant="quiet" busy={busy} onClick={() => void start(nodeIds)}>
            {t('test.again')}
          </Button>
        )}
        <ButtonLink variant="quiet" href="/nodes">
          {t('preflight.later')}
        </ButtonLink>
      </div>
    </div>
  )
}

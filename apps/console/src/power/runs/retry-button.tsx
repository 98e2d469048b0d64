'use client'
import { RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { useClient } from 'urql'
import { toProblem } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { toast } from '@/ui/toast.tsx'
import { PowerDialog } from '../power-dialog.tsx'
import { PowerRunItemsQuery, type PowerRunRow, PROBLEMS, pickItems } from './documents.ts'

const PAGE = 500

/** Starts the action again on the nodes without the wanted effect, after a preview and with a reason of its own. */
export function RetryButton({ run }: { run: PowerRunRow }) {
  const client = useClient()
  const [nodeIds, setNodeIds] = useState<string[] | null>(null)
  const [isBusy, setBusy] = useState(false)
  const countOf = (results: readonly string[]) =>
    run.results.filter(({ result }) => results.includes(result)).reduce((sum, { count }) => sum + count, 0)
  const count = countOf(PROBLEMS)
  async function open() {
    setBusy(true)
    const ids: string[] = []
    let after: string | null = null
    for (;;) {
      const variables = { id: run.id, result: [...PROBLEMS], first: PAGE, after }
      const { data, error } = await client.query(PowerRunItemsQuery, variables, { requestPolicy: 'network-only' }).toPromise()
      if (!data) {
        setBusy(false)
        return toast('bad', error ? toProblem(error).message : t('powerRun.loadFailed'))
      }
      const page = pickItems(data)
      ids.push(...page.edges.flatMap(({ node }) => node.node?.id ?? []))
      after = page.pageInfo.endCursor
      if (!page.pageInfo.hasNextPage) break
    }
    setBusy(false)
    if (ids.length === 0) return toast('bad', t('powerRun.nodesGone'))
    setNodeIds(ids)
  }
  if (!run.finishedAt || count === 0) return null
  return (
    <>
      <Button icon={<RotateCcw aria-hidden />} busy={isBusy} onClick={() => void open()}>
        {t('powerRun.retry', { count })}
      </Button>
      {nodeIds && (
        <PowerDialog
          action={run.action}
          nodeIds={nodeIds}
          {...(run.bootDevice ? { bootDevice: run.bootDevice } : {})}
          {...(countOf(['NOT_VERIFIED']) > 0 ? { note: t('powerRun.retryNote') } : {})}
          onClose={() => setNodeIds(null)}
        />
      )}
    </>
  )
}

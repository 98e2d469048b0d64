'use client'
import { useEffect, useState } from 'react'
import { useVerb } from '@/graphql/use-verb.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Notice } from '@/ui/notice.tsx'
import { TestConnections } from './documents.ts'
import { PreflightList } from './preflight-list.tsx'
import { usePreflight } from './use-preflight.ts'

/** Test the connections of nodes and watch them, stage by stage. `nodeIds` must stay the same array while it is open. */
export function TestDialog({ nodeIds, title, onClose }: { nodeIds: string[]; title: string; onClose: () => void }) {
  const verb = useVerb(TestConnections)
  const [testIds, setTestIds] = useState<string[]>([])
  const preflight = usePreflight(testIds)
  const { run } = verb
  async function start() {
    const outcome = await verb.run({ nodeIds })
    if (outcome.ok) setTestIds(outcome.value.tests.map((test) => test.id))
  }
  useEffect(() => {
    void run({ nodeIds }).then((outcome) => outcome.ok && setTestIds(outcome.value.tests.map((test) => test.id)))
  }, [run, nodeIds])
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button busy={!verb.problem && !preflight.isOver} onClick={() => void start()}>
            {t('test.again')}
          </Button>
          <Button look="primary" onClick={onClose}>
            {t('common.close')}
          </Button>
        </>
      }
    >
      {verb.problem && <Notice tone="bad">{verb.problem.message}</Notice>}
      <PreflightList tests={preflight.tests} expanded={nodeIds.length === 1} onApproved={() => void start()} />
    </Dialog>
  )
}

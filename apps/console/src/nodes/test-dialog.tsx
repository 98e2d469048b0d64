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

/** Test one node's connection and watch it, stage by stage. */
export function TestDialog({ nodeId, name, onClose }: { nodeId: string; name: string; onClose: () => void }) {
  const verb = useVerb(TestConnections)
  const [testIds, setTestIds] = useState<string[]>([])
  const preflight = usePreflight(testIds)
  const { run } = verb
  async function start() {
    const outcome = await verb.run({ nodeIds: [nodeId] })
    if (outcome.ok) setTestIds(outcome.value.tests.map((test) => test.id))
  }
  useEffect(() => {
    void run({ nodeIds: [nodeId] }).then((outcome) => outcome.ok && setTestIds(outcome.value.tests.map((test) => test.id)))
  }, [run, nodeId])
  return (
    <Dialog
      title={t('test.title', { name })}
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
      <PreflightList tests={preflight.tests} expanded onApproved={() => void start()} />
    </Dialog>
  )
}

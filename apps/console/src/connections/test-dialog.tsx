'use client'
import { useEffect, useState } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { TestConnections } from '@/nodes/documents.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Notice } from '@/ui/notice.tsx'
import { PreflightList } from './preflight-list.tsx'
import { usePreflight } from './use-preflight.ts'

/** Tests connections and shows their stages. `nodeIds` must stay the same array while open. */
export function TestDialog({ nodeIds, title, onClose }: { nodeIds: string[]; title: string; onClose: () => void }) {
  const mutation = useMutation(TestConnections)
  const [testIds, setTestIds] = useState<string[]>([])
  const preflight = usePreflight(testIds)
  const { run } = mutation
  async function start() {
    const outcome = await mutation.run({ nodeIds })
    if (outcome.ok) setTestIds(outcome.value.connectionTests.map((test) => test.id))
  }
  useEffect(() => {
    void run({ nodeIds }).then((outcome) => outcome.ok && setTestIds(outcome.value.connectionTests.map((test) => test.id)))
  }, [run, nodeIds])
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button busy={!mutation.problem && !preflight.isFinished} onClick={() => void start()}>
            {t('test.again')}
          </Button>
          <Button variant="primary" onClick={onClose}>
            {t('common.close')}
          </Button>
        </>
      }
    >
      {mutation.problem && <Notice tone="bad">{mutation.problem.message}</Notice>}
      <PreflightList tests={preflight.tests} expanded={nodeIds.length === 1} onApproved={() => void start()} />
    </Dialog>
  )
}

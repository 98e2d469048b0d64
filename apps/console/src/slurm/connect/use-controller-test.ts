'use client'
import { useCallback, useEffect, useMemo, useState } from 'react'
import { usePreflight } from '@/connections/use-preflight.ts'
import { useLive } from '@/graphql/use-live.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { TestConnections } from '@/nodes/documents.ts'
import { type ClusterTest, ClusterTestUpdated, TestController, type TestControllerInput } from '../documents.ts'

/**
 * Tests a node in two steps: the SSH connection, where a person may have to approve the host key, then Slurm. The second step starts
 * when a command can run.
 */
export function useControllerTest() {
  const connecting = useMutation(TestConnections)
  const testing = useMutation(TestController)
  const [target, setTarget] = useState<TestControllerInput | null>(null)
  const [connectionIds, setConnectionIds] = useState<string[]>([])
  const [test, setTest] = useState<ClusterTest | null>(null)
  const [isLost, setLost] = useState(false)
  const preflight = usePreflight(connectionIds)

  const { run: connect } = connecting
  const start = useCallback(
    async (input: TestControllerInput) => {
      setTarget(input)
      setTest(null)
      setLost(false)
      setConnectionIds([])
      const outcome = await connect({ nodeIds: [input.nodeId] })
      if (outcome.ok) setConnectionIds(outcome.value.connectionTests.map(({ id }) => id))
    },
    [connect],
  )

  const connection = preflight.tests[0]
  const canRunCommands = connection?.stages.some(({ stage, state }) => stage === 'SHELL' && state === 'OK') ?? false
  const { run: testSlurm } = testing
  useEffect(() => {
    if (!canRunCommands || !target) return
    void testSlurm({ input: target }).then((outcome) => {
      if (outcome.ok) setTest(outcome.value.slurmClusterTest)
    })
  }, [canRunCommands, target, testSlurm])
  useLive(
    ClusterTestUpdated,
    test && !test.finishedAt ? { id: test.id } : null,
    ({ slurmClusterTestUpdated }) => setTest(slurmClusterTestUpdated),
    () => setLost(true),
  )

  const reset = useCallback(() => {
    setTarget(null)
    setConnectionIds([])
    setTest(null)
    setLost(false)
  }, [])
  const problem = connecting.problem ?? testing.problem
  const isConnecting = target !== null && !canRunCommands && !preflight.isFinished
  const isTesting = canRunCommands && !test?.finishedAt
  return useMemo(
    () => ({
      start,
      reset,
      /** The node that is tested; null before. */
      nodeId: target?.nodeId ?? null,
      connections: preflight.tests,
      canRunCommands,
      test,
      /** Rejection of the connection test or of the test of Slurm; null when none. */
      problem,
      /** Why the test could not start, or was lost. */
      error: problem?.message ?? (isLost && test && !test.finishedAt ? t('slurmConnect.testLost') : null),
      isRunning: problem === null && !isLost && (isConnecting || isTesting),
    }),
    [start, reset, target, preflight.tests, canRunCommands, test, problem, isLost, isConnecting, isTesting],
  )
}
